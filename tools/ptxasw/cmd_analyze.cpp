// ptxasw analyze: every access of a PTX file, nothing rewritten.
#include "options.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

#include <unistd.h>

namespace ptxasw::tool {

int analyze(Arguments arguments) {
  CLI::App app("Shows every access of a PTX file and rewrites nothing.", "ptxasw analyze");
  std::string input, format = "text";
  app.add_option("INPUT", input, "PTX file; - is standard input")->required();
  app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  Options options;
  app.add_flag("--values", options.values,
               "also work out what each store writes (slower: most of a kernel's arithmetic)");
  return parse_and(app, options, std::move(arguments), [&] {
    const Report found =
        ptxasw::analyze(read_text(input), input == "-" ? "<stdin>" : input, options);
    write_text("-", format == "json"
                        ? report::to_json(found)
                        : report::to_text(found, {.color = ::isatty(STDOUT_FILENO) == 1}));
  });
}

} // namespace ptxasw::tool
