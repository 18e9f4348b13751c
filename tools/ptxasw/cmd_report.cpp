// ptxasw report: what would be rewritten, for people and for programs.
#include "command_line.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/log_table.hpp"
#include "report/page.hpp"
#include "report/report.hpp"

namespace ptxasw::tool {

int report(Arguments arguments) {
  Parser app("report",
             "Shows what would be rewritten: by default what the drop-in does, "
             "and with --shuffle=all or "
             "--coarsen=... what else could be. html and json take one input; html also takes "
             "what ptxasw launch --report=FILE.json has written. Of a log (PTXASW_LOG) text is "
             "a table of files and kernels.");
  std::vector<std::string> inputs;
  std::string output = "-", format = "text";
  app.add("INPUT", inputs, "PTX files, or a log; - is standard input", {.required = true});
  app.add("-o,--output", output, "where to write the report (standard output)");
  app.add("--format", format, "text, json, html, or table: one line per kernel",
          {.choices = {"text", "json", "html", "table"}});
  bool details = false;
  app.add("--details", details,
          "every access with its address and conditions, every candidate that was weighed");
  Options options;
  return parse_and(app, options, std::move(arguments), [&] {
    if (inputs.size() > 1 && (format == "json" || format == "html"))
      throw UsageError("--format=" + format + " takes one input");
    const bool color = color_to(output);
    std::string page;
    std::vector<Report> reports;
    for (const std::string& input : inputs) {
      const std::string text = read_text(input);
      if (format == "html")
        if (const auto run = report::page_of_launches(text))
          return write_text(output, *run), exit_done;
      if (format == "text")
        if (const auto table = report::table_of_log(text)) {
          page += *table;
          continue;
        }
      expect_ptx(text, input);
      Optimized result = optimize_with_ptxas(text, input == "-" ? "<stdin>" : input, options,
                                             format != "text" || !details);
      if (format == "text")
        page += report::to_text(result.report, {.color = color, .details = details});
      if (format == "json") page += report::to_json(result.report);
      if (format == "html") page += report::to_html(result.report, text, result.text);
      reports.push_back(std::move(result.report));
    }
    if (format == "table") page = report::table2(reports);
    write_text(output, page);
    return exit_done;
  });
}

} // namespace ptxasw::tool
