// ptxasw stats: what a build, or all builds of this user on this machine, came to.
#include "command_line.hpp"
#include "driver/environment.hpp"
#include "profile/profile.hpp"
#include "report/log_stats.hpp"
#include "store/store.hpp"
#include "store/usage.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ptxasw::tool {
namespace {

// Of all launches of a run that were timed by the version that ran and by the one of the build.
double measured_gain(const profile::Profile& run) {
  double before = 0, after = 0;
  for (const profile::Kernel& kernel : run.kernels)
    for (const profile::Shape& shape : kernel.shapes) {
      const auto original = shape.versions.find(profile::baseline_of(shape)),
                 chosen = shape.versions.find(shape.chosen);
      if (original == shape.versions.end() || chosen == shape.versions.end()) continue;
      before += static_cast<double>(shape.launches) * original->second.least;
      after += static_cast<double>(shape.launches) * chosen->second.least;
    }
  return after > 0 ? before / after : 0;
}

double megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

std::string store_as_text(const store::Settings& settings, const store::Counts& counts) {
  const auto bytes = counts.find("bytes");
  std::string text = fmt::format("store     {}: {:.1f} of {:.0f} MB{}\n", settings.folder,
                                 megabytes(bytes == counts.end() ? 0 : bytes->second),
                                 megabytes(static_cast<std::int64_t>(settings.limit)),
                                 settings.remote.empty() ? "" : ", and PTXASW_STORE behind it");
  for (const store::KindUsage& kind : store::usage_of(counts)) {
    const auto share = [&](std::int64_t part) {
      return kind.asked() == 0
                 ? 0.0
                 : 100 * static_cast<double>(part) / static_cast<double>(kind.asked());
    };
    text += fmt::format("  {:<11} {:>7} asked for: {:.1f} % were there, {:.1f} % in PTXASW_STORE; "
                        "{} written, {} damaged\n",
                        kind.kind, kind.asked(), share(kind.hits), share(kind.remote_hits),
                        kind.written, kind.broken);
  }
  return text;
}

std::string store_as_json(const store::Settings& settings, const store::Counts& counts) {
  nlohmann::ordered_json made{{"folder", settings.folder}, {"limit", settings.limit}};
  made["counters"] = counts;
  return made.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

} // namespace

int stats(Arguments arguments) {
  Parser app("stats",
             "Tells in numbers what ptxasw came to. With a log (PTXASW_LOG of a build, or --log): "
             "files and kernels rewritten, by which pass, with what predicted gain, why the others "
             "were left as they are, and the time that it took. Without: what the store of this "
             "user has, and how often it was asked and had the answer.");
  std::string log, run, format = "text";
  app.add("--log", log, "the log of a build (the file that PTXASW_LOG names, if it is there)");
  app.add("--run", run, "what a run of the program measured (ptxasw launch --profile=FILE)");
  app.add("--format", format, "text or json", {.choices = {"text", "json"}});
  if (const auto code = app.read(std::move(arguments))) return *code;
  return guarded([&] {
    const auto environment = driver::Environment::current();
    const bool as_json = format == "json";
    std::string text;
    if (log.empty()) log = environment.get("PTXASW_LOG").value_or("");
    if (!log.empty()) {
      const auto found = report::stats_of_log(read_text(log));
      if (!found) throw InputError(log + " is no log of ptxasw (PTXASW_LOG)");
      text = as_json ? report::stats_as_json(*found) : report::stats_as_text(*found);
    } else {
      const auto settings =
          store::settings_from([&](std::string_view name) { return environment.get(name); });
      const store::Counts counts =
          store::Folder(settings.folder, store::Folder::Users::owner, settings.limit).counts();
      text = as_json ? store_as_json(settings, counts) : store_as_text(settings, counts);
    }
    if (!run.empty() && !as_json) {
      const auto measured = profile::from_json(read_text(run));
      if (!measured) throw InputError(run + ": " + measured.error());
      if (const double gain = measured_gain(*measured); gain > 0)
        text += fmt::format("gain      {:>10.2f} measured by the launcher, of all its launches\n",
                            gain);
    }
    write_text("-", text);
    return exit_done;
  });
}

} // namespace ptxasw::tool
