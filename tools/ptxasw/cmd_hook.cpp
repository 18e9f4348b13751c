// ptxasw hook and ptxasw self-test: putting ptxasw in place, and making sure of it.
#include "driver/environment.hpp"
#include "driver/files.hpp"
#include "driver/hooks.hpp"
#include "driver/self_test.hpp"
#include "options.hpp"

#include <fmt/format.h>

namespace ptxasw::tool {

int hook(Arguments arguments) {
  CLI::App app("Tells what to set to put ptxasw in the place of ptxas; without a name, lists the "
               "names.",
               "ptxasw hook");
  std::string name;
  app.add_option("NAME", name, "a compiler, build system or framework");
  Options none;
  int code = 0;
  const int parsed = parse_and(app, none, std::move(arguments), [&] {
    const driver::Hook* found = driver::find_hook(name);
    if (found)
      fmt::print("{}", driver::describe(*found, driver::own_program_file()));
    else
      fmt::print("{}", driver::list_hooks());
    if (!found && !name.empty()) {
      fmt::print(stderr, "ptxasw hook: '{}' is none of these\n", name);
      code = 2;
    }
  });
  return parsed ? parsed : code;
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
