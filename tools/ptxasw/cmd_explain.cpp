// ptxasw explain: all that is known of the accesses at one line.
#include "command_line.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

namespace ptxasw::tool {

int explain(Arguments arguments) {
  Parser app("explain", "Tells all that is known of the accesses at a line of "
                        "the PTX, or of the source when "
                        "the PTX line has none. Loads are judged as with "
                        "--shuffle=all.");
  std::string input;
  std::uint32_t line = 0;
  app.add("INPUT", input, "PTX file; - is standard input", {.required = true});
  app.add("LINE", line, "line number, from 1", {.required = true, .least = 1});
  Options options;
  options.shuffle = ShuffleMode::all;
  return parse_and(app, options, std::move(arguments), [&] {
    const Optimized result =
        optimize_with_ptxas(read_ptx(input), input == "-" ? "<stdin>" : input, options);
    write_text("-", report::explain(result.report, line, {.color = color_to("-")}));
    return exit_done;
  });
}

} // namespace ptxasw::tool
