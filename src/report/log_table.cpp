// A row for each kernel of a log. Of calls for the same text the last one counts: a build is
// repeated, and its log grows.
#include "report/log_table.hpp"

#include "report/log_lines.hpp"
#include "report/phrases.hpp"
#include "report/reason.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

namespace ptxasw::report {
namespace {

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

class Rows {
public:
  void call(const LogJson& call) {
    const LogJson& inputs = log_list(call, "inputs");
    const std::string action = log_text(call, "action"), reason = log_text(call, "reason");
    const bool any = std::ranges::any_of(
        inputs, [](const LogJson& input) { return !log_list(input, "kernels").empty(); });
    for (const LogJson& input : inputs)
      for (const LogJson& one : log_list(input, "kernels"))
        if (one.is_object()) kernel(file_of(log_text(input, "path")), one, action, reason);
    if (any) return;
    std::string file = inputs.empty() ? "" : log_text(inputs.front(), "path");
    if (file.empty())
      for (const LogJson& argument : log_list(call, "arguments"))
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
  void kernel(const std::string& file, const LogJson& one, const std::string& action,
              const std::string& reason) {
    ++kernels_;
    const auto flag = one.find("changed");
    const bool changed =
        flag != one.end() && flag->is_boolean() && flag->get<bool>() && action != "fell back";
    changed_ += changed ? 1 : 0;
    std::vector<std::string> done;
    if (const auto all = one.find("decisions"); changed && all != one.end() && all->is_object())
      for (const auto& [rewrite, decision] : all->items())
        if (decision.is_object() && log_text(decision, "status") == "done")
          done.emplace_back(option_of(rewrite));
    const auto gain = one.find("predicted_gain");
    const bool predicted = changed && gain != one.end() && gain->is_number();
    std::string why;
    if (const LogJson& reasons = log_list(one, "why_unchanged"); !changed && !reasons.empty())
      why = log_text(reasons.front(), "text");
    if (action == "fell back") why = reason;
    if (const LogJson& entries = log_list(one, "entries"); !entries.empty())
      done.push_back(plural(entries.size(), "entry") + " added");
    row({file, display_name(log_text(one, "name")),
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

// What a call was given, to know it when it is made again. Empty: not known.
std::string what_was_given(const LogJson& call) {
  std::string all;
  for (const LogJson& input : log_list(call, "inputs")) {
    const std::string hash = log_text(input, "hash");
    if (hash.empty()) return "";
    all += file_of(log_text(input, "path")) + '\n' + hash + '\n';
  }
  return all;
}

} // namespace

std::optional<std::string> table_of_log(std::string_view log, unsigned width) {
  Rows rows;
  std::vector<std::pair<std::string, LogJson>> calls; // each with what it was given
  std::map<std::string, std::size_t> last;            // of calls that were given the same
  const bool is_log = read_log(
      log,
      [&](const LogJson& call) {
        std::string given = what_was_given(call);
        last[given] = calls.size();
        calls.emplace_back(std::move(given), call);
      },
      [&] { rows.broken(); });
  if (!is_log) return std::nullopt;
  for (std::size_t n = 0; n < calls.size(); ++n)
    if (const auto& [given, call] = calls[n]; given.empty() || last.at(given) == n) rows.call(call);
  return rows.text(width);
}

} // namespace ptxasw::report
