// The sub-commands. To add one: a file of its own with a function like these, and a line in the
// table of commands.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::tool {

using Arguments = std::vector<std::string>; // behind the sub-command's name

int analyze(Arguments arguments);
int cachesim(Arguments arguments);
int explain(Arguments arguments);
int hook(Arguments arguments);
int launch(Arguments arguments);
int opt(Arguments arguments);
int prepare_programs(Arguments arguments);
int profile_runs(Arguments arguments);
int report(Arguments arguments);
int run(Arguments arguments);
int stats(Arguments arguments);
int self_test(Arguments arguments);
int verify(Arguments arguments);
int help(Arguments arguments);

struct SubCommand {
  std::string_view name, summary;
  int (*run)(Arguments);
};
std::span<const SubCommand> sub_commands();

} // namespace ptxasw::tool
