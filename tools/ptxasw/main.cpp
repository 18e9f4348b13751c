// The program ptxasw: a drop-in for ptxas, or one of its own sub-commands. driver/mode.hpp tells
// which, and why the two cannot be mistaken for each other.
#include "commands.hpp"
#include "driver/drop_in.hpp"
#include "ptxasw/ptxasw.hpp"

#include <algorithm>

int main(int argc, char** argv) {
  using namespace ptxasw;
  const std::vector<std::string> words(argv, argv + argc);
  const auto environment = driver::Environment::current();
  std::vector<std::string_view> names;
  for (const tool::SubCommand& command : tool::sub_commands())
    names.push_back(command.name);

  const driver::Invocation call = driver::read_invocation(words, names, environment);
  switch (call.mode) {
  case driver::Invocation::Mode::help: return tool::help({});
  case driver::Invocation::Mode::sub_command:
    return std::ranges::find(tool::sub_commands(), call.command, &tool::SubCommand::name)
        ->run(call.arguments);
  case driver::Invocation::Mode::drop_in: break;
  }
  return driver::drop_in(call, {version(), optimize}, environment);
}
