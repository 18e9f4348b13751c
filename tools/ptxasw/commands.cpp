// The table of sub-commands, and the page that lists them.
#include "commands.hpp"

#include "command_line.hpp"

#include <array>
#include <fmt/format.h>

namespace ptxasw::tool {
namespace {

constexpr std::array<SubCommand, 14> table{{
    {"opt", "rewrite a PTX file", opt},
    {"analyze", "show every access of a PTX file, rewrite nothing", analyze},
    {"report",
     "show what would be rewritten in PTX files, as text, JSON, HTML or one "
     "table",
     report},
    {"explain", "tell all that is known of the accesses at one line", explain},
    {"run", "run one kernel on the CPU", run},
    {"verify", "compare two versions of the kernels on the CPU", verify},
    {"cachesim", "is a program of its own, ptxasw-cachesim", cachesim},
    {"launch", "run a program and choose a version for each launch of its kernels", launch},
    {"prepare", "make versions of the kernels of a program as it was built", prepare_programs},
    {"profile", "merge and show what runs under the launcher measured", profile_runs},
    {"stats", "tell in numbers what a build, or all builds on this machine, came to", stats},
    {"hook", "tell what to set to put ptxasw in the place of ptxas", hook},
    {"self-test", "tell whether a compiler command really runs ptxasw", self_test},
    {"help", "show this page", help},
}};

} // namespace

int cachesim(Arguments /*unused*/) { // NOLINT(performance-unnecessary-value-param): as all are
  throw UsageError(
      "what a cache makes of a kernel is told by ptxasw-cachesim, a program of its own "
      "beside this one, with the same arguments");
}

std::span<const SubCommand> sub_commands() {
  return table;
}

int help(Arguments arguments) {
  if (!arguments.empty() && arguments[0] == "--help=words") { // for a shell
    std::string words;
    for (const SubCommand& command : table)
      words += fmt::format("{}\t{}\n", command.name, command.summary);
    write_text("-", words);
    return exit_done;
  }
  std::string text = "ptxasw stands where ptxas stands: it replaces loads whose value another "
                     "lane already "
                     "holds,\nwith a proof for each, and hands the result to the real "
                     "ptxas.\n\n"
                     "  ptxasw [ptxas] PTXAS-ARGUMENTS    assemble, as ptxas would\n"
                     "  ptxasw SUB-COMMAND --help\n\n";
  for (const SubCommand& command : table)
    text += fmt::format("  {:10} {}\n", command.name, command.summary);
  text += "\nExit codes of the sub-commands:\n";
  for (const ExitCode& each : exit_codes())
    text += fmt::format("  {}  {}\n", each.code, each.meaning);
  text += "\nOptions of the optimizer; in the place of ptxas each starts with "
          "--ptxasw- or stands "
          "in PTXASW_FLAGS:\n\n" +
          optimizer_help() +
          "\nEnvironment, in the place of ptxas: PTXASW_FLAGS (options), "
          "PTXASW_LOG (a file that "
          "gets one\nline of JSON per call), PTXASW_PTXAS (the real ptxas).\n";
  write_text("-", text);
  return exit_done;
}

} // namespace ptxasw::tool
