// What each call did, as JSON.
#include "driver/log.hpp"

#include "report/reason.hpp"
#include "store/descriptor.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

using json = nlohmann::ordered_json;

std::string hex(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

// Why loads were left alone, each reason with how often.
json reasons(const KernelReport& kernel) {
  std::map<std::string_view, unsigned> counts;
  for (const AccessReport& access : kernel.accesses)
    if (access.outcome == Outcome::kept && !access.is_store && !access.kept.empty())
      ++counts[code(access.kept.reason)];
  json j = json::object();
  for (const auto& [code, count] : counts)
    j[std::string(code)] = count;
  return j;
}

json describe(const KernelReport& kernel) {
  json j{{"name", kernel.name},       {"changed", kernel.changed},   {"loads", kernel.loads},
         {"covered", kernel.covered}, {"shuffles", kernel.shuffles}, {"moves", kernel.moves},
         {"ms", kernel.milliseconds}};
  if (kernel.coarsening.status != Status::not_asked) j["coarsening"] = kernel.coarsening.text;
  if (!kernel.left_alone.empty()) {
    j["reason"] = kernel.left_alone.text;
    j["reason_code"] = code(kernel.left_alone.reason);
  }
  for (const auto& [rewrite, decision] : report::decisions(kernel)) {
    if (decision->status == Status::not_asked) continue;
    json& made = j["decisions"][std::string(rewrite)];
    made = {{"status", report::name(decision->status)}};
    if (decision->reason != Reason::none) made["code"] = code(decision->reason);
  }
  for (const report::WhyNot& why : report::why_unchanged(kernel))
    j["why_unchanged"].push_back(
        {{"rewrite", why.rewrite}, {"code", code(why.reason)}, {"text", why.text}});
  if (const CoarsenCandidate* way = report::best_way(kernel)) j["way"] = to_string(way->how);
  if (const auto gain = report::predicted_gain(kernel)) j["predicted_gain"] = *gain;
  if (!kernel.entries.empty()) j["entries"] = kernel.entries;
  if (auto kept = reasons(kernel); !kept.empty()) j["kept"] = std::move(kept);
  return j;
}

json describe(const std::optional<Usage>& usage) {
  if (!usage) return nullptr;
  return {{"registers", usage->registers},
          {"stack", usage->stack},
          {"spill_stores", usage->spill_stores},
          {"spill_loads", usage->spill_loads}};
}

json describe(const InputRecord& input) {
  json j{{"path", input.path},
         {"bytes", input.bytes},
         {"hash", hex(input.hash)},
         {"changed", input.changed}};
  if (input.report.trials != 0)
    j["search"] = {{"trials", input.report.trials}, {"ms", input.report.search_ms}};
  for (const KernelReport& kernel : input.report.kernels)
    j["kernels"].push_back(describe(kernel));
  for (const Message& message : input.report.messages)
    j["messages"].push_back(message.text);
  return j;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

} // namespace

std::string to_json_line(const LogRecord& record) {
  json j{{"time", utc_now()},
         {"pid", ::getpid()},
         {"ptxasw", record.version + record.settings},
         {"ptxas", record.ptxas},
         {"ptxas_version", record.ptxas_version},
         {"arguments", record.arguments},
         {"action", record.action}};
  if (!record.reason.empty()) j["reason"] = record.reason;
  for (const InputRecord& input : record.inputs)
    j["inputs"].push_back(describe(input));
  for (const Reverted& back : record.reverted) {
    j["taken_back"].push_back({{"kernel", back.kernel},
                               {"before", describe(back.before)},
                               {"after", describe(back.after)}});
    if (!back.refusal.empty()) j["taken_back"].back()["refusal"] = back.refusal;
  }
  if (record.output_hash)
    j["output"] = {{"path", record.output}, {"hash", hex(*record.output_hash)}};
  if (record.ended.signal != 0)
    j["signal"] = record.ended.signal;
  else
    j["exit_code"] = record.ended.code;
  j["optimize_ms"] = record.optimize_ms;
  j["total_ms"] = record.total_ms;
  j["processor_ms"] = {{"own", record.own_processor_ms}, {"ptxas", record.ptxas_processor_ms}};
  return j.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

bool append_line(const std::string& path, const std::string& line) {
  const store::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  return file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

std::string version_number(std::string_view text) {
  const std::size_t release = text.find("release ");
  const std::size_t at = release == std::string_view::npos ? release : text.find(", V", release);
  if (at == std::string_view::npos) return "";
  const std::string_view number = text.substr(at + 3);
  return std::string(number.substr(0, number.find_first_not_of("0123456789.")));
}

} // namespace ptxasw::driver
