// A log may be of any version and written by several processes: whatever a line lacks is left out.
// Of calls for the same text the last one counts.
#include "report/log_table.hpp"

#include "report/phrases.hpp"
#include "report/reason.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace ptxasw::report {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// "main.ptx" of nvcc's /tmp/tmpxft_000017cb_00000000-6_main.ptx
std::string file_of(const std::string& path) {
  std::string name = base_name(path);
  if (!name.starts_with("tmpxft_")) return name;
  std::size_t at = name.find('-');
  if (at == name.npos) return name;
  while (++at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) {
  }
  return at + 1 < name.size() && name[at] == '_' ? name.substr(at + 1) : name;
}

const Json& list_of(const Json& object, const char* key) {
  static const Json none = Json::array();
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : none;
}

class Rows {
public:
  void call(const Json& call) {
    const Json& inputs = list_of(call, "inputs");
    const std::string action = text_of(call, "action"), reason = text_of(call, "reason");
    const bool any = std::ranges::any_of(
        inputs, [](const Json& input) { return !list_of(input, "kernels").empty(); });
    for (const Json& input : inputs)
      for (const Json& one : list_of(input, "kernels"))
        if (one.is_object()) kernel(file_of(text_of(input, "path")), one, action, reason);
    if (any) return;
    std::string file = inputs.empty() ? "" : text_of(inputs.front(), "path");
    if (file.empty())
      for (const Json& argument : list_of(call, "arguments"))
        if (argument.is_string() && argument.get<std::string>().ends_with(".ptx"))
          file = argument.get<std::string>();
    if (!file.empty()) row({file_of(file), "", action, "", reason});
  }

  void broken() { ++broken_; }

  [[nodiscard]] std::string text(unsigned width) {
    std::string out = table_.render(width);
    out += fmt::format("\n{}, {} rewritten", plural(kernels_, "kernel"), changed_);
    if (broken_ != 0) out += fmt::format("; {} could not be read", plural(broken_, "line"));
    return out + "\n" +
           (kernels_ > changed_ ? "what would help one that was left alone: ptxasw report FILE.ptx "
                                  "(nvcc -ptx writes it)\n"
                                : "");
  }

private:
  void kernel(const std::string& file, const Json& one, const std::string& action,
              const std::string& reason) {
    ++kernels_;
    const auto flag = one.find("changed");
    const bool changed =
        flag != one.end() && flag->is_boolean() && flag->get<bool>() && action != "fell back";
    changed_ += changed ? 1 : 0;
    std::vector<std::string> done;
    if (const auto all = one.find("decisions"); changed && all != one.end() && all->is_object())
      for (const auto& [rewrite, decision] : all->items())
        if (decision.is_object() && text_of(decision, "status") == "done")
          done.emplace_back(option_of(rewrite));
    const auto gain = one.find("predicted_gain");
    const bool predicted = changed && gain != one.end() && gain->is_number();
    std::string why;
    if (const Json& reasons = list_of(one, "why_unchanged"); !changed && !reasons.empty())
      why = text_of(reasons.front(), "text");
    if (action == "fell back") why = reason;
    if (const Json& entries = list_of(one, "entries"); !entries.empty())
      done.push_back(plural(entries.size(), "entry") + " added");
    row({file, display_name(text_of(one, "name")),
         !done.empty() ? fmt::format("{}", fmt::join(done, ", "))
         : changed     ? "rewritten"
                       : "left as it is",
         predicted ? fmt::format("{:.2f}", gain->get<double>()) : "", why});
  }

  void row(std::vector<std::string> cells) {
    for (std::string& cell : cells)
      cell = printable(cell);
    table_.row(std::move(cells));
  }

  Table table_{{{"file"},
                {"kernel"},
                {"what was done"},
                {"predicted gain", Align::right},
                {"why not", Align::left, true}}};
  std::size_t kernels_ = 0, changed_ = 0, broken_ = 0;
};

} // namespace

namespace {

// What a call was given, to know it when it is made again: a build is repeated, and its log grows.
// Empty: not known.
std::string what_was_given(const Json& call) {
  std::string all;
  for (const Json& input : list_of(call, "inputs")) {
    const std::string hash = text_of(input, "hash");
    if (hash.empty()) return "";
    all += file_of(text_of(input, "path")) + '\n' + hash + '\n';
  }
  return all;
}

} // namespace

std::optional<std::string> table_of_log(std::string_view log, unsigned width) {
  Rows rows;
  std::vector<Json> calls;
  std::map<std::string, std::size_t> last; // of calls that were given the same
  bool any = false;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    Json call = Json::parse(line, nullptr, false);
    const bool good = call.is_object() && call.contains("ptxasw") && call.contains("action");
    if (!good && !any) return std::nullopt;
    any = true;
    if (!good) {
      rows.broken();
      continue;
    }
    if (const std::string given = what_was_given(call); !given.empty()) last[given] = calls.size();
    calls.push_back(std::move(call));
  }
  if (!any) return std::nullopt;
  for (std::size_t n = 0; n < calls.size(); ++n)
    if (const auto found = last.find(what_was_given(calls[n]));
        found == last.end() || found->second == n)
      rows.call(calls[n]);
  return rows.text(width);
}

} // namespace ptxasw::report
