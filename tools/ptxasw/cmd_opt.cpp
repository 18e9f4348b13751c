// ptxasw opt: one PTX file in, the rewritten one out.
#include "options.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

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
  fmt::print(
      stderr,
      "parsed {} time{}, {} kernel{} emulated; {} run{} of ptxas, {} text{} to choose from\n",
      report.parses, report.parses == 1 ? "" : "s", report.emulations,
      report.emulations == 1 ? "" : "s", report.calls, report.calls == 1 ? "" : "s", report.trials,
      report.trials == 1 ? "" : "s");
  fmt::print(stderr, "parse {:.2f} ms, analyze and rewrite {:.2f} ms, print {:.2f} ms\n",
             report.parse_ms, report.analyze_ms, report.print_ms);
}

std::string rendered(const Report& report, const std::string& path, std::string_view before,
                     std::string_view after) {
  if (path.ends_with(".json")) return report::to_json(report);
  if (path.ends_with(".html")) return report::to_html(report, before, after);
  return report::to_text(report);
}

} // namespace

int opt(Arguments arguments) {
  CLI::App app("Rewrites a PTX file. With an output file, the report goes to standard output.",
               "ptxasw opt");
  std::string input, output = "-", report_file;
  bool statistics = false, quiet = false;
  app.add_option("INPUT", input, "PTX file; - is standard input")->required();
  app.add_option("-o,--output", output, "where to write the PTX (standard output)");
  app.add_option("--report", report_file, "also write the report to FILE.json, .html or .txt");
  app.add_flag("--stats", statistics, "how much was understood, and times, on standard error");
  app.add_flag("-q,--quiet", quiet, "no report on standard output");
  app.footer("Options of the optimizer:\n" + optimizer_help());
  Options options;
  return parse_and(app, options, std::move(arguments), [&] {
    const std::string text = read_text(input), name = input == "-" ? "<stdin>" : input;
    const Optimized result = optimize_with_ptxas(text, name, options);
    write_text(output, result.text);
    if (output != "-" && !quiet)
      write_text("-", report::to_text(result.report, {.color = ::isatty(STDOUT_FILENO) == 1}));
    if (!report_file.empty())
      write_text(report_file, rendered(result.report, report_file, text, result.text));
    if (statistics) print_statistics(result.report);
  });
}

} // namespace ptxasw::tool
