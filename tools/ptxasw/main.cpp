// The program ptxasw: a drop-in for ptxas, or one of its own sub-commands.
// driver/mode.hpp tells which, and why the two cannot be mistaken for each
// other.
#include "command_line.hpp"
#include "commands.hpp"
#include "driver/drop_in.hpp"
#include "driver/files.hpp"
#include "nearest.hpp"
#include "ptxasw/ptxasw.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace {

// A first word that is no file and nearly a sub-command is one that is misspelt; all else is for
// ptxas to judge.
std::string mistaken(const ptxasw::driver::Invocation& call,
                     std::span<const std::string_view> sub_commands) {
  if (!call.stand_alone || !call.named_ptxas.empty() || call.arguments.empty()) return {};
  const std::string& word = call.arguments[0];
  const bool plain = word.find_first_of("-./@=") == std::string::npos;
  if (!plain || ptxasw::driver::file_id(word)) return {};
  const std::string meant = ptxasw::tool::did_you_mean(word, sub_commands);
  if (meant.empty()) return {};
  return fmt::format("'{}' is neither a sub-command nor a file{}", word, meant);
}

} // namespace

int main(int argc, char** argv) {
  using namespace ptxasw;
  const std::vector<std::string> words(argv, argv + argc);
  const auto environment = driver::Environment::current();
  std::vector<std::string_view> names;
  for (const tool::SubCommand& command : tool::sub_commands())
    names.push_back(command.name);

  const driver::Invocation call = driver::read_invocation(words, names, environment);
  switch (call.mode) {
  case driver::Invocation::Mode::help: return tool::guarded([] { return tool::help({}); });
  case driver::Invocation::Mode::sub_command:
    return tool::guarded([&] {
      return std::ranges::find(tool::sub_commands(), call.command, &tool::SubCommand::name)
          ->run(call.arguments);
    });
  case driver::Invocation::Mode::drop_in:
    if (const std::string why = mistaken(call, names); !why.empty())
      return tool::guarded([&]() -> int { throw tool::UsageError(why); });
    break;
    break;
  }
  return driver::drop_in(call, {version(), optimize}, environment);
}
