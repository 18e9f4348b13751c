// ptxasw analyze: every access of a PTX file, nothing rewritten.
#include "command_line.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

namespace ptxasw::tool {

int analyze(Arguments arguments) {
  Parser app("analyze", "Shows every access of a PTX file and rewrites nothing.");
  std::string input, format = "text";
  app.add("INPUT", input, "PTX file; - is standard input", {.required = true});
  app.add("--format", format, "text or json", {.choices = {"text", "json"}});
  Options options;
  app.add("--values", options.values,
          "also work out what each store writes (slower: most of a kernel's "
          "arithmetic)");
  return parse_and(app, options, std::move(arguments), [&] {
    const Report found =
        ptxasw::analyze(read_ptx(input), input == "-" ? "<stdin>" : input, options);
    write_text("-", format == "json" ? report::to_json(found)
                                     : report::to_text(found, {.color = color_to("-")}));
    return exit_done;
  });
}

} // namespace ptxasw::tool
