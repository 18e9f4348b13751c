// ptxasw profile: what runs under the launcher measured, as one file, or as a table.
#include "command_line.hpp"
#include "driver/stored_profile.hpp"
#include "profile/profile.hpp"
#include "report/profile_table.hpp"

#include <vector>

namespace ptxasw::tool {
namespace {

profile::Profile read_all(const std::vector<std::string>& files) {
  std::vector<profile::Profile> runs;
  for (const std::string& file : files) {
    auto run = profile::from_json(read_text(file));
    if (!run) throw InputError(file + ": " + run.error());
    runs.push_back(std::move(*run));
  }
  auto all = profile::merged(runs);
  if (!all) throw InputError(all.error());
  return std::move(*all);
}

} // namespace

int profile_runs(Arguments arguments) {
  Parser app("profile",
             "What runs of a program told of its kernels: how often each was launched, in which "
             "grids and blocks, and how long each version took. ptxasw launch "
             "--profile=FILE writes it; a build takes it (-Xptxas --ptxasw-profile=FILE, or ptxasw "
             "opt --profile=FILE) and makes of each kernel what was measured to be fastest for the "
             "launches that it really gets.\n\n"
             "merge makes one file of several runs: launches add up, and a version's times are "
             "those of all runs. Two chips do not mix. show prints a table: what was chosen, what "
             "was fastest, and what is fastest of what a build can make. keep puts it into the "
             "store (PTXASW_STORE: one that a farm shares), where a build takes it from by its "
             "name: --profile=store:NAME. A name is for ever; another profile needs another one.");
  std::string action, output = "-", name;
  std::vector<std::string> files;
  app.add("ACTION", action, "merge, show or keep",
          {.required = true, .choices = {"merge", "show", "keep"}});
  app.add("FILE", files, "profiles; - is standard input", {.required = true});
  app.add("-o,--output", output, "where to write it (standard output)");
  app.add("--name", name, "of the profile in the store, for keep");
  if (const auto code = app.read(std::move(arguments))) return *code;
  return guarded([&] {
    if ((action == "keep") == name.empty())
      throw UsageError("--name says under which name a profile is kept: for keep alone");
    const profile::Profile all = read_all(files);
    if (action == "keep") {
      if (const auto why = driver::keep_profile(name, all, driver::Environment::current()))
        throw std::runtime_error(*why);
      return exit_done;
    }
    write_text(output, action == "merge" ? profile::to_json(all) : report::table_of_profile(all));
    return exit_done;
  });
}

} // namespace ptxasw::tool
