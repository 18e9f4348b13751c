// The report for people who want an answer: what was done to each kernel or why not, what would
// help, and its accesses by families.
#include "report/parts.hpp"
#include "report/reason.hpp"
#include "report/table.hpp"

#include "target/access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace ptxasw::report {
namespace {

// "y2, y4, steps9": what stands behind the kernel's own name in those of entries.
std::string entries_added(const KernelReport& kernel) {
  const std::string before = kernel.name + "__ptxasw_";
  std::vector<std::string_view> names;
  for (const std::string& entry : kernel.entries)
    names.push_back(std::string_view(entry).substr(entry.starts_with(before) ? before.size() : 0));
  return fmt::format("{} added for a launcher: {}", plural(names.size(), "entry"),
                     fmt::join(names, ", "));
}

// Without what is for who reads machine code: "(machine instruction 16 is another one (0x4 instead
// of 0x5))".
std::string in_short(std::string text) {
  const std::size_t begin = text.find(" (machine instruction");
  if (begin == text.npos) return text;
  int depth = 0;
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return text.erase(begin, at + 1 - begin);
  }
  return text;
}

// What came of --steps where no entry did, without the places that a step reads.
std::string no_steps(const KernelReport& kernel) {
  const std::string& text = kernel.steps.text;
  const std::size_t reads = text.find(", reads "), outcome = text.find("; no entry");
  if (reads >= outcome || outcome == text.npos) return text;
  return text.substr(0, reads) + text.substr(outcome);
}

// The answer in at most eight lines: what was done or why not, and what would help.
void put_verdict(std::string& out, const KernelReport& kernel, const TextStyle& style) {
  constexpr std::size_t most_lines = 7; // below the first
  put_name(out, kernel, style);
  out += ": " + paint(style, kernel.changed ? green : yellow, verdict(kernel)) + '\n';
  std::vector<std::string> lines;
  const auto say = [&](std::string_view text) {
    std::ranges::move(wrap(text, style.width > 4 ? style.width - 2 : 2), std::back_inserter(lines));
  };
  if (const auto& by = kernel.grid_divided_by; by != std::array{1U, 1U, 1U})
    say(fmt::format("launch it with a grid divided by {}x{}x{}", by[0], by[1], by[2]));
  if (kernel.changed) {
    for (const auto& [rewrite, decision] : decisions(kernel))
      if (decision->status == Status::done && !decision->text.empty())
        say(printable(decision->text));
    if (kernel.covered != 0) say(covered(kernel));
  } else if (const std::vector<WhyNot> why = why_unchanged(kernel); !why.empty()) {
    say(printable(in_short(why.front().text)));
  }
  if (!kernel.entries.empty()) say(printable(entries_added(kernel)));
  if (kernel.steps.status == Status::refused) say(printable(no_steps(kernel)));
  for (const Hint& hint : kernel.hints)
    say((&hint == kernel.hints.data() ? "what would help: " : "or ") + to_string(hint));
  if (kernel.hints.empty() && kernel.hints_sought && !kernel.changed)
    say("nothing in ptxasw is known to help this kernel");
  if (lines.size() > most_lines) {
    lines.resize(most_lines - 1);
    lines.emplace_back("(more with --details)");
  }
  for (const std::string& line : lines)
    out += "  " + line + '\n';
}

// Accesses that differ in nothing but their line and their address, to a reader who wants no
// details.
struct Family {
  std::vector<std::string> cells; // without lines and number
  std::uint32_t first = 0, last = 0;
  std::size_t count = 0;
  const AccessReport* example = nullptr;
  SourceLines source;
};

// What became of an access, without what is different in each of a family.
std::string told(const KernelReport& kernel, const Users& users, const AccessReport& access) {
  if (access.outcome != Outcome::kept) return std::string(name(access.outcome));
  if (!users.of(access).empty()) return "kept: supplies others";
  if (access.kept.empty()) return "";
  // Such rewrites are of the kernel, and what is said of a load is of shuffles alone.
  const bool in_tree = kernel.rounds.status == Status::done && access.space == "shared";
  if (kernel.changed && (kernel.coarsening.status == Status::done || in_tree)) return "";
  const auto known = std::ranges::find(reason_codes(), access.kept.reason, &ReasonCode::reason);
  if (known == reason_codes().end() || access.kept.reason == Reason::other)
    return "kept: " + printable(access.kept.text);
  return fmt::format("kept: {} [{}]", known->meaning, known->code);
}

std::vector<Family> families(const KernelReport& kernel, const Users& users) {
  std::vector<Family> all;
  std::map<std::vector<std::string>, std::size_t> places;
  for (const AccessReport& access : kernel.accesses) {
    std::vector<std::string> cells{printable(operation(access)), std::to_string(access.bytes),
                                   sectors(access), std::string(target::name(access.access)),
                                   told(kernel, users, access)};
    const auto [place, fresh] = places.try_emplace(cells, all.size());
    if (fresh) all.push_back({std::move(cells), access.ptx_line, 0, 0, &access, {}});
    Family& family = all[place->second];
    family.last = access.ptx_line;
    family.source.add(access);
    ++family.count;
  }
  return all;
}

void put_families(std::string& out, const KernelReport& kernel, const TextStyle& style) {
  if (kernel.accesses.empty()) return;
  const Users users(kernel);
  const std::vector<Family> all = families(kernel, users);
  Table table({{"source"},
               {"PTX lines", Align::right},
               {"times", Align::right},
               {"access"},
               {"bytes", Align::right},
               {"sectors", Align::right},
               {"class"},
               {"outcome", Align::left, true}});
  for (const Family& family : all) {
    std::vector<std::string> row{printable(family.source.text()),
                                 family.count == 1
                                     ? std::to_string(family.first)
                                     : fmt::format("{}-{}", family.first, family.last),
                                 std::to_string(family.count)};
    row.insert(row.end(), family.cells.begin(), family.cells.end());
    table.row(std::move(row));
  }
  out += '\n';
  out += table.render(style.width, 2, [&](std::size_t row, std::size_t column, std::string_view t) {
    return column == 7 ? paint(style, outcome_color(users, *all.at(row).example), t)
                       : std::string(t);
  });
}

// What a reader wants first: how many of how many, and the kernels by what they gain.
void put_short_summary(std::string& out, const Report& report, const TextStyle& style) {
  const auto changed = std::ranges::count_if(report.kernels, &KernelReport::changed);
  out += paint(style, bold, printable(report.file.empty() ? "<input>" : report.file));
  std::size_t entries = 0;
  for (const KernelReport& kernel : report.kernels)
    entries += kernel.entries.size();
  out += fmt::format(": {}, {} rewritten", plural(report.kernels.size(), "kernel"), changed);
  out += entries == 0 ? "\n" : fmt::format(", {} added\n", plural(entries, "entry"));
  put_unasked(out, report);
}

std::vector<const KernelReport*> by_gain(const Report& report) {
  std::vector<const KernelReport*> order;
  for (const KernelReport& kernel : report.kernels)
    order.push_back(&kernel);
  std::ranges::stable_sort(order, {}, [](const KernelReport* kernel) {
    const CoarsenCandidate* way = best_way(*kernel);
    const bool gains = kernel->changed && way != nullptr && way->chosen;
    return std::pair(gains ? -way->gain : 0.0, !kernel->changed);
  });
  return order;
}

} // namespace

std::string brief_text(const Report& report, const TextStyle& style) {
  std::string out;
  put_short_summary(out, report, style);
  put_messages(out, report);
  for (const KernelReport* kernel : by_gain(report)) {
    out += '\n';
    put_verdict(out, *kernel, style);
    put_families(out, *kernel, style);
  }
  if (!promise(report).empty()) out += '\n';
  put_promise(out, report, style);
  return out;
}

} // namespace ptxasw::report
