// ptxasw hook and ptxasw self-test: putting ptxasw in place, and making sure of it.
#include "driver/environment.hpp"
#include "driver/files.hpp"
#include "driver/self_test.hpp"
#include "options.hpp"

#include <fmt/format.h>

namespace ptxasw::tool {

int hook(Arguments arguments) {
  CLI::App app("Shows how to put ptxasw in the place of ptxas.", "ptxasw hook");
  Options none;
  return parse_and(app, none, std::move(arguments),
                   [] { fmt::print("{}", driver::hook_instructions(driver::own_program_file())); });
}

// The command's options are not ours, so nothing here is parsed but the -- in front of it.
int self_test(Arguments arguments) {
  if (!arguments.empty() && arguments[0] == "--") arguments.erase(arguments.begin());
  if (arguments.empty() || arguments[0].starts_with('-')) {
    fmt::print("usage: ptxasw self-test -- nvcc OPTIONS...\n\n"
               "Compiles a small kernel with the command and tells whether ptxasw took part.\n"
               "Exit code: 0 it did, 1 it did not, 2 the command failed.\n");
    return arguments.empty() ? 2 : 0;
  }
  const auto result = driver::self_test(arguments, driver::Environment::current());
  fmt::print("{}", result.text);
  return result.code;
}

} // namespace ptxasw::tool
