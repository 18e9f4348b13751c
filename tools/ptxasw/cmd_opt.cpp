// ptxasw opt: one PTX file in, the rewritten one out.
#include "command_line.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

namespace ptxasw::tool {
namespace {

void print_statistics(const Report& report) {
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 100.0
                      : 100.0 * static_cast<double>(whole - part) / static_cast<double>(whole);
  };
  fmt::print(stderr, "understood: {:.2f}% of {} statements, {:.2f}% of {} bytes\n",
             share(report.opaque_statements, report.statements), report.statements,
             share(report.opaque_bytes, report.bytes), report.bytes);
  fmt::print(stderr,
             "parsed {} time{}, {} kernel{} emulated; {} run{} of ptxas, {} "
             "text{} to choose from\n",
             report.parses, report.parses == 1 ? "" : "s", report.emulations,
             report.emulations == 1 ? "" : "s", report.calls, report.calls == 1 ? "" : "s",
             report.trials, report.trials == 1 ? "" : "s");
  fmt::print(stderr, "parse {:.2f} ms, analyze and rewrite {:.2f} ms, print {:.2f} ms\n",
             report.parse_ms, report.analyze_ms, report.print_ms);
  for (const PassStatistics& pass : report.passes)
    fmt::print(stderr, "{:<12} may change {} kernels, changed {}; find {:.2f} ms, emit {:.2f} ms\n",
               pass.pass, pass.planned, pass.changed, pass.find_ms, pass.emit_ms);
}

std::string rendered(const Report& report, const std::string& path, std::string_view before,
                     std::string_view after) {
  if (path.ends_with(".json")) return report::to_json(report);
  if (path.ends_with(".html")) return report::to_html(report, before, after);
  return report::to_text(report);
}

} // namespace

int opt(Arguments arguments) {
  Parser app("opt", "Rewrites a PTX file. With an output file, the report goes "
                    "to standard output.");
  std::string input, output = "-", report_file;
  bool statistics = false, quiet = false;
  app.add("INPUT", input, "PTX file; - is standard input", {.required = true});
  app.add("-o,--output", output, "where to write the PTX (standard output)");
  app.add("--report", report_file, "also write the report to FILE.json, .html or .txt");
  app.add("--stats", statistics, "how much was understood, and times, on standard error");
  app.add("-q,--quiet", quiet, "no report on standard output");
  bool details = false;
  app.add("--details", details,
          "every access with its address and conditions, every candidate that was weighed");
  Options options;
  return parse_and(app, options, std::move(arguments), [&] {
    if (const std::string wrong = mistaken_report_name(report_file); !wrong.empty())
      throw UsageError(wrong);
    const std::string text = read_ptx(input), name = input == "-" ? "<stdin>" : input;
    const bool tells = output != "-" && !quiet;
    const Optimized result = optimize_with_ptxas(text, name, options, tells && !details);
    write_text(output, result.text);
    if (tells)
      write_text("-", report::to_text(result.report, {.color = color_to("-"), .details = details}));
    if (!report_file.empty())
      write_text(report_file, rendered(result.report, report_file, text, result.text));
    if (statistics) print_statistics(result.report);
    return exit_done;
  });
}

} // namespace ptxasw::tool
