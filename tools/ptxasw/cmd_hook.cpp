// ptxasw hook and ptxasw self-test: putting ptxasw in place, and making sure of
// it.
#include "command_line.hpp"
#include "driver/environment.hpp"
#include "driver/files.hpp"
#include "driver/hooks.hpp"
#include "driver/self_test.hpp"
#include "nearest.hpp"

#include <fmt/format.h>

namespace ptxasw::tool {

int hook(Arguments arguments) {
  Parser app("hook", "Tells what to set to put ptxasw in the place of ptxas; "
                     "without a name, lists the "
                     "names.");
  std::string name;
  app.add("NAME", name, "a compiler, build system or framework");
  return guarded([&] {
    if (const auto code = app.read(std::move(arguments))) return *code;
    const driver::Hook* found = driver::find_hook(name);
    write_text("-",
               found ? driver::describe(*found, driver::own_program_file()) : driver::list_hooks());
    if (found || name.empty()) return exit_done;
    std::vector<std::string_view> names;
    for (const driver::Hook& each : driver::hooks())
      names.push_back(each.name);
    throw UsageError(fmt::format("hook: '{}' is none of these{}", name, did_you_mean(name, names)));
  });
}

// The command's options are not ours, so nothing here is parsed but the -- in
// front of it.
int self_test(Arguments arguments) {
  if (!arguments.empty() && arguments[0] == "--") arguments.erase(arguments.begin());
  if (arguments.empty() || arguments[0].starts_with('-')) {
    constexpr std::string_view usage =
        "usage: ptxasw self-test -- nvcc OPTIONS...\n\n"
        "Compiles a small kernel with the command and tells whether ptxasw took part.\n"
        "Exit code: 0 it did, 1 it did not, 2 the command failed.\n";
    const bool page = !arguments.empty() && arguments[0] == "--help=man";
    write_text("-", page ? manual_page_of("self-test", usage) : std::string(usage));
    return arguments.empty() ? exit_usage : exit_done;
  }
  const auto result = driver::self_test(arguments, driver::Environment::current());
  write_text("-", result.text);
  return result.code;
}

} // namespace ptxasw::tool
