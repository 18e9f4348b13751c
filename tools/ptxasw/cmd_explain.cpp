// ptxasw explain: all that is known of the accesses at one line.
#include "options.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/report.hpp"

#include <unistd.h>

namespace ptxasw::tool {

int explain(Arguments arguments) {
  CLI::App app(
      "Tells all that is known of the accesses at a line of the PTX, or of the source when "
      "the PTX line has none. Loads are judged as with --shuffle=all and --forward=all.",
      "ptxasw explain");
  std::string input;
  std::uint32_t line = 0;
  app.add_option("INPUT", input, "PTX file; - is standard input")->required();
  app.add_option("LINE", line, "line number, from 1")->required()->check(CLI::PositiveNumber);
  Options options;
  options.shuffle = ShuffleMode::all;
  options.forward = ForwardMode::all;
  return parse_and(app, options, std::move(arguments), [&] {
    const Optimized result =
        optimize_with_ptxas(read_text(input), input == "-" ? "<stdin>" : input, options);
    write_text("-", report::explain(result.report, line, {.color = ::isatty(STDOUT_FILENO) == 1}));
  });
}

} // namespace ptxasw::tool
