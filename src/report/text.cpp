// The report as text, the paper's Table 2, and the answer to `ptxasw explain`.
#include "report/parts.hpp"
#include "report/phrases.hpp"
#include "report/reason.hpp"
#include "report/report.hpp"
#include "report/table.hpp"

#include "target/access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ptxasw::report {
namespace {

std::string effort(const KernelReport& kernel) {
  return fmt::format("{}, {} ({} by Z3)", milliseconds(kernel.milliseconds),
                     plural(kernel.solver_queries, "query"), kernel.z3_queries);
}

void put_headline(std::string& out, const KernelReport& kernel, const TextStyle& style) {
  put_name(out, kernel, style);
  out += '\n';
  const auto put = [&](std::string_view text, std::string_view color) {
    for (const auto& line : wrap(text, style.width > 4 ? style.width - 2 : 2))
      out += "  " + paint(style, color, line) + '\n';
  };
  const auto coded = [](const std::string& text, Reason reason) {
    return fmt::format("{} [{}]", printable(text), code(reason));
  };
  if (const Why& why = kernel.left_alone; !why.empty())
    put((kernel.analyzed ? "left alone: " : "not analyzed: ") + coded(why.text, why.reason),
        yellow);
  for (const Decision* decision :
       {&kernel.coarsening, &kernel.remapping, &kernel.rotation, &kernel.rounds}) {
    if (decision->status == Status::refused) put(coded(decision->text, decision->reason), "");
    if (decision->status == Status::done) put(printable(decision->text), "");
  }
  if (!kernel.steps.text.empty()) put(printable(kernel.steps.text), "");
  if (const auto& by = kernel.grid_divided_by; by != std::array{1U, 1U, 1U})
    put(fmt::format("launch it with a grid divided by {}x{}x{}", by[0], by[1], by[2]), yellow);
  if (kernel.analyzed) put(covered(kernel) + "; " + effort(kernel), "");
}

// Terms of arithmetic can be as long as the kernel; JSON has all of it.
std::string shortened(const std::string& term) {
  constexpr std::size_t most = 600;
  return term.size() <= most ? term : term.substr(0, most) + " ...";
}

void put_accesses(std::string& out, const KernelReport& kernel, const TextStyle& style) {
  if (kernel.accesses.empty()) return;
  const Users users(kernel);
  Table table({{"line", Align::right},
               {"source"},
               {"access"},
               {"bytes", Align::right},
               {"stride", Align::right},
               {"sectors", Align::right},
               {"class"},
               {"outcome", Align::left, true}});
  for (const auto& access : kernel.accesses) {
    table.row({std::to_string(access.ptx_line), printable(source_place(access)),
               printable(operation(access)), std::to_string(access.bytes), lane_stride(access),
               sectors(access), std::string(target::name(access.access)),
               printable(outcome(users, access))});
    table.note(printable(access.address));
    for (const auto& value : access.values)
      table.note("= " + printable(shortened(value)));
    for (const auto& condition : conditions(access))
      table.note(printable(condition));
  }
  out += '\n';
  out += table.render(style.width, 2, [&](std::size_t row, std::size_t column, std::string_view t) {
    const auto& access = kernel.accesses.at(row);
    return column == 7 ? paint(style, outcome_color(users, access), t) : std::string(t);
  });
}

struct Totals {
  unsigned loads = 0, covered = 0, shuffles = 0, moves = 0;
  double deltas = 0, milliseconds = 0;

  void add(const KernelReport& kernel) {
    loads += kernel.loads;
    covered += kernel.covered;
    shuffles += kernel.shuffles;
    moves += kernel.moves;
    deltas += kernel.mean_delta * kernel.shuffles;
    milliseconds += kernel.milliseconds;
  }
  [[nodiscard]] double mean_delta() const { return shuffles == 0 ? 0 : deltas / shuffles; }
};

void put_summary(std::string& out, const Report& report, const TextStyle& style) {
  Totals totals;
  for (const auto& kernel : report.kernels)
    totals.add(kernel);
  out += paint(style, bold, printable(report.file.empty() ? "<input>" : report.file));
  out += fmt::format(": {}, {}, {} covered\n", plural(report.kernels.size(), "kernel"),
                     plural(totals.loads, "load"), totals.covered);
  std::string opaque = "none opaque";
  if (report.opaque_statements != 0) opaque = fmt::format("{} opaque", report.opaque_statements);
  out += fmt::format("  {} ({}); parse {}, analysis {}, print {}\n",
                     plural(report.statements, "statement"), opaque, milliseconds(report.parse_ms),
                     milliseconds(report.analyze_ms), milliseconds(report.print_ms));
  put_promise(out, report, style);
  if (report.trials != 0)
    out += fmt::format("  {} of ptxas to choose coarsenings, {}\n", plural(report.trials, "run"),
                       milliseconds(report.search_ms));
  put_unasked(out, report);
}

// What ptxas made of each way to coarsen, and what the model says of it.
void put_candidates(std::string& out, const KernelReport& kernel, const TextStyle& style) {
  const auto& [as_it_is, ways] = kernel.weighed;
  if (ways.empty() || !as_it_is.usage) return;
  Table table({{"way"},
               {"registers", Align::right},
               {"loads", Align::right},
               {"instructions", Align::right},
               {"latency", Align::right},
               {"gain", Align::right},
               {"verdict", Align::left, true}});
  const auto row = [&](const std::string& how, const CoarsenWork& work,
                       const std::optional<Usage>& usage, unsigned copies, double gain,
                       const std::string& verdict) {
    const auto number = [&](double value) { return usage ? fmt::format("{:.0f}", value) : "-"; };
    const StraightPath path = usage && usage->path ? *usage->path : StraightPath{};
    table.row({how, number(usage ? usage->registers : 0), fmt::format("{:.1f}", work.loads),
               number(path.instructions / static_cast<double>(copies)),
               number(path.latency / copies), fmt::format("{:.2f}", gain), verdict});
  };
  row("as it is", as_it_is.work, as_it_is.usage, 1, 1, "");
  for (const CoarsenCandidate& candidate : ways)
    row(to_string(candidate.how), candidate.work, candidate.usage, candidate.how.copies(),
        candidate.gain, candidate.chosen ? "chosen" : candidate.verdict.text);
  out += '\n' + table.render(style.width, 2);
}

std::string help_cell(const KernelReport& kernel) {
  const bool nothing = kernel.hints.empty() && kernel.hints_sought && !kernel.changed;
  return nothing ? "nothing known" : printable(would_help(kernel));
}

std::string mean_delta_cell(unsigned shuffles, double mean_delta) {
  return shuffles == 0 ? "" : fmt::format("{:.2f}", mean_delta);
}

std::string count_cell(unsigned count) {
  return count == 0 ? "" : std::to_string(count);
}

// The field and its value, wrapped behind the field's column.
void put_field(std::string& out, std::string_view field, std::string_view value,
               const TextStyle& style) {
  constexpr unsigned margin = 12;
  if (value.empty()) return;
  std::string head = fmt::format("  {:<{}}", field, margin - 2);
  for (const auto& line : wrap(value, style.width > margin + 8 ? style.width - margin : 8)) {
    out += head + line + '\n';
    head.assign(margin, ' ');
  }
}

std::string lanes_sentence(const AccessReport& access) {
  const std::string stride =
      access.lane_stride ? fmt::format("{} bytes from lane to lane", *access.lane_stride)
      : access.access == AccessClass::random ? std::string("no fixed distance from lane to lane")
                                             : std::string("a distance set by the parameters");
  return fmt::format("{}: {} ({})", stride, target::name(access.access),
                     target::description(access.access));
}

std::string request_sentence(const AccessReport& access) {
  const auto [least, most] = access.sectors;
  if (least == most) return fmt::format("{} of 32 bytes per warp", plural(most, "sector"));
  return fmt::format("{} to {} of 32 bytes per warp, depending on {}", least,
                     plural(most, "sector"),
                     access.lane_stride ? "alignment" : "parameters and alignment");
}

std::string outcome_sentence(const KernelReport& kernel, const Users& users,
                             const AccessReport& access) {
  std::string text = outcome(users, access);
  if (!text.empty() || access.is_store) return text;
  if (!kernel.left_alone.empty()) return "kept, as the whole kernel is: " + kernel.left_alone.text;
  return "kept: nothing was rewritten";
}

void put_explanation(std::string& out, const Report& report, const KernelReport& kernel,
                     const Users& users, const AccessReport& access, const TextStyle& style) {
  const std::string source = source_place(access);
  out += paint(style, bold, fmt::format("{}:{}", printable(report.file), access.ptx_line));
  if (!source.empty()) out += fmt::format(" ({})", printable(source));
  out += fmt::format(", kernel {}\n", printable(display_name(kernel.name)));
  const auto put = [&](std::string_view field, std::string_view value) {
    put_field(out, field, printable(value), style);
  };
  put("access", fmt::format("{}, {} per lane{}", operation(access), plural(access.bytes, "byte"),
                            access.loop_depth == 0
                                ? ""
                                : fmt::format(", inside {}", plural(access.loop_depth, "loop"))));
  put("address", access.address);
  put("lanes", lanes_sentence(access));
  put("request", request_sentence(access));
  put("outcome", outcome_sentence(kernel, users, access));
  for (const auto& fact : access.facts)
    put(&fact == access.facts.data() ? "given" : "",
        fmt::format("{} ({})", fact.text, meaning(fact.kind)));
  put("proof", access.proof);
}

std::uint32_t line_of(const AccessReport& access, bool ptx) {
  return ptx ? access.ptx_line : access.source_line;
}

// How many accesses are at this line of the PTX or of the source.
std::size_t put_matches(std::string& out, const Report& report, std::uint32_t line, bool ptx,
                        const TextStyle& style) {
  std::size_t count = 0;
  for (const auto& kernel : report.kernels) {
    const Users users(kernel);
    for (const auto& access : kernel.accesses) {
      if (line == 0 || line_of(access, ptx) != line) continue;
      if (count++ != 0) out += '\n';
      put_explanation(out, report, kernel, users, access, style);
    }
  }
  return count;
}

// "the nearest are at lines 40 and 52"
std::string nearest(const Report& report, std::uint32_t line) {
  std::uint32_t before = 0, after = 0;
  for (const auto& kernel : report.kernels)
    for (const auto& access : kernel.accesses) {
      const auto at = access.ptx_line;
      if (at < line) before = std::max(before, at);
      if (at > line) after = after == 0 ? at : std::min(after, at);
    }
  if (before == 0 && after == 0) return "there are none in this file";
  if (before == 0 || after == 0) return fmt::format("the nearest is at line {}", before + after);
  return fmt::format("the nearest are at lines {} and {}", before, after);
}

} // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  if (!style.details) return brief_text(report, style);
  std::string out;
  put_summary(out, report, style);
  put_messages(out, report);
  for (const KernelReport& kernel : report.kernels) {
    out += '\n';
    put_headline(out, kernel, style);
    put_candidates(out, kernel, style);
    put_accesses(out, kernel, style);
  }
  return out;
}

std::string table2(std::span<const Report> reports) {
  Table table({{"kernel"},
               {"loads", Align::right},
               {"shuffles", Align::right},
               {"moves", Align::right},
               {"mean |delta|", Align::right},
               {"analysis took", Align::right},
               {"verdict"},
               {"what would help"}});
  Totals totals;
  std::size_t kernels = 0;
  for (const auto& report : reports)
    for (const auto& kernel : report.kernels) {
      table.row({printable(display_name(kernel.name)),
                 kernel.analyzed ? std::to_string(kernel.loads) : "-", count_cell(kernel.shuffles),
                 count_cell(kernel.moves), mean_delta_cell(kernel.shuffles, kernel.mean_delta),
                 milliseconds(kernel.milliseconds), verdict(kernel), help_cell(kernel)});
      totals.add(kernel);
      ++kernels;
    }
  if (kernels == 0) return "no kernels\n";
  table.rule();
  table.row({plural(kernels, "kernel"), std::to_string(totals.loads), count_cell(totals.shuffles),
             count_cell(totals.moves), mean_delta_cell(totals.shuffles, totals.mean_delta()),
             milliseconds(totals.milliseconds)});
  return table.render(~0U);
}

std::string explain(const Report& report, std::uint32_t line, const TextStyle& style) {
  std::string out;
  if (put_matches(out, report, line, true, style) != 0) return out;
  if (put_matches(out, report, line, false, style) != 0) return out;
  return fmt::format("{}:{}: no memory access here; {}\n", printable(report.file), line,
                     nearest(report, line));
}

} // namespace ptxasw::report
