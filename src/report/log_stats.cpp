// Counts over the lines of a log.
#include "report/log_stats.hpp"

#include "ptxasw/reason.hpp"
#include "report/log_lines.hpp"
#include "report/phrases.hpp"
#include "report/reason.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>
#include <vector>

namespace ptxasw::report {
namespace {

using Counted = std::map<std::string, std::uint64_t, std::less<>>;

double log_number(const LogJson& object, const char* key) {
  const LogJson* found = log_member(object, key);
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

bool log_flag(const LogJson& object, const char* key) {
  const LogJson* found = log_member(object, key);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

class CallCounter {
public:
  void call(const LogJson& call) {
    const std::string action = log_text(call, "action"), reason = log_text(call, "reason");
    ++stats_.calls;
    ++stats_.actions[action];
    if (!reason.empty()) ++stats_.left[reason];
    const bool stays = action == "rewritten";
    for (const LogJson& input : log_list(call, "inputs")) {
      ++stats_.files;
      if (stays && log_flag(input, "changed")) ++stats_.files_rewritten;
      for (const LogJson& kernel : log_list(input, "kernels"))
        this->kernel(kernel, stays);
    }
    stats_.total_ms += log_number(call, "total_ms");
    stats_.optimize_ms += log_number(call, "optimize_ms");
    if (const LogJson* processor = log_member(call, "processor_ms")) {
      stats_.own_cpu_ms += log_number(*processor, "own");
      stats_.ptxas_cpu_ms += log_number(*processor, "ptxas");
    }
  }
  void broken() { ++stats_.broken; }

  [[nodiscard]] LogStats result() const {
    LogStats made = stats_;
    if (predicted_ != 0) made.predicted = std::exp(logarithms_ / static_cast<double>(predicted_));
    return made;
  }

private:
  void kernel(const LogJson& kernel, bool stays) {
    ++stats_.kernels;
    if (!stays || !log_flag(kernel, "changed")) {
      const LogJson& why = log_list(kernel, "why_unchanged");
      const std::string code = why.empty() ? "" : log_text(why.front(), "code");
      if (!code.empty()) ++stats_.reasons[code];
      return;
    }
    ++stats_.kernels_rewritten;
    if (const LogJson* all = log_member(kernel, "decisions"); all != nullptr && all->is_object())
      for (const auto& [rewrite, decision] : all->items())
        if (log_text(decision, "status") == "done")
          ++stats_.passes[std::string(option_of(rewrite))];
    if (const double gain = log_number(kernel, "predicted_gain"); gain > 0) {
      logarithms_ += std::log(gain);
      ++predicted_;
    }
  }

  LogStats stats_;
  double logarithms_ = 0;
  std::uint64_t predicted_ = 0;
};

std::string meaning_of_code(std::string_view reason) {
  const auto known = std::ranges::find(reason_codes(), reason, &ReasonCode::code);
  return known == reason_codes().end() ? "" : std::string(known->meaning);
}

template <class Meaning>
std::string counted_rows(std::string_view title, const Counted& counted, const Meaning& meaning) {
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counted.begin(), counted.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &decltype(sorted)::value_type::second);
  std::string text;
  for (const auto& [name, count] : sorted) {
    text += text.empty() ? fmt::format("{}\n", title) : "";
    const std::string more = meaning(name);
    text += fmt::format("{:>10}  {}{}\n", count, printable(name),
                        more.empty() ? "" : fmt::format(": {}", more));
  }
  return text;
}

std::string in_percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? ""
                    : fmt::format(" ({:.1f} %)",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

} // namespace

std::optional<LogStats> stats_of_log(std::string_view log) {
  CallCounter counter;
  if (!read_log(
          log, [&](const LogJson& call) { counter.call(call); }, [&] { counter.broken(); }))
    return std::nullopt;
  return counter.result();
}

std::string stats_as_text(const LogStats& stats) {
  const auto nothing = [](const std::string&) { return std::string(); };
  std::string text = counted_rows("calls", stats.actions, nothing);
  text += fmt::format("files     {:>10} of {} rewritten{}\n", stats.files_rewritten, stats.files,
                      in_percent(stats.files_rewritten, stats.files));
  text += fmt::format("kernels   {:>10} of {} rewritten{}\n", stats.kernels_rewritten,
                      stats.kernels, in_percent(stats.kernels_rewritten, stats.kernels));
  text += counted_rows("rewritten by", stats.passes, nothing);
  if (stats.predicted > 0)
    text +=
        fmt::format("gain      {:>10.2f} predicted, on average over kernels\n", stats.predicted);
  text += counted_rows("kernels left as they are", stats.reasons,
                       [](const std::string& reason) { return meaning_of_code(reason); });
  text += counted_rows("calls left alone", stats.left, nothing);
  // Of a file that was rewritten it has the run of ptxas that would have been anyway.
  text += fmt::format("time      {:>10} in all, at most {} of it added\n",
                      milliseconds(stats.total_ms), milliseconds(stats.optimize_ms));
  text += fmt::format("processor {:>10} ptxasw, {} ptxas\n", milliseconds(stats.own_cpu_ms),
                      milliseconds(stats.ptxas_cpu_ms));
  if (stats.broken != 0)
    text += fmt::format("{} could not be read\n", plural(stats.broken, "line"));
  return text;
}

std::string stats_as_json(const LogStats& stats) {
  const LogJson made{{"calls", stats.calls},
                     {"actions", stats.actions},
                     {"files", stats.files},
                     {"files_rewritten", stats.files_rewritten},
                     {"kernels", stats.kernels},
                     {"kernels_rewritten", stats.kernels_rewritten},
                     {"rewritten_by", stats.passes},
                     {"predicted_gain", stats.predicted},
                     {"reasons", stats.reasons},
                     {"left_alone", stats.left},
                     {"total_ms", stats.total_ms},
                     {"optimize_ms", stats.optimize_ms},
                     {"processor_ms", {{"own", stats.own_cpu_ms}, {"ptxas", stats.ptxas_cpu_ms}}},
                     {"broken_lines", stats.broken}};
  return made.dump(1, ' ', false, LogJson::error_handler_t::replace) + '\n';
}

} // namespace ptxasw::report
