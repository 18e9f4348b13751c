// Options out of PTXASW_FLAGS and of arguments, with what there is to complain about.
#include "driver/settings.hpp"

#include "driver/command_line.hpp"
#include "driver/files.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

namespace ptxasw::driver {
namespace {

// What is in the file counts.
constexpr std::array<std::string_view, 2> file_options{"profile=", "sequences="};

std::string without_prefix(std::string word) {
  if (word.starts_with(own_prefix)) return word.substr(own_prefix.size());
  if (word.starts_with("--")) return word.substr(2);
  return word;
}

void apply(Settings& settings, const std::string& option, const std::string& where) {
  if (const FormerOption* former = former_option(option)) {
    const bool is_gone = former->now.empty();
    settings.complaints.push_back(where + ": --" + std::string(former->before) + ": " +
                                  std::string(former->says) + (is_gone ? "; ignored" : ""));
    if (is_gone) return;
  }
  if (const auto error = apply_option(settings.options, option))
    settings.complaints.push_back(where + ": " + *error + "; ignored");
  else
    settings.given.push_back(option);
}

} // namespace

std::string Settings::text() const {
  std::string all;
  for (const std::string& option : given) {
    all += " --" + option;
    for (const std::string_view name : file_options)
      if (option.starts_with(name))
        all += fmt::format(":{:016x}", hash_regular_file(option.substr(name.size())).value_or(0));
  }
  return all;
}

Settings read_settings(std::string_view flags, std::span<const std::string> own_options) {
  Settings settings;
  std::istringstream words{std::string(flags)};
  for (std::string word; words >> word;)
    apply(settings, without_prefix(word), "PTXASW_FLAGS");
  for (const std::string& option : own_options)
    apply(settings, option, std::string(own_prefix) + option);
  if (settings.options.coarsen_grid != CoarsenGrid::kernel) {
    settings.options.coarsen_grid = CoarsenGrid::kernel;
    settings.complaints.emplace_back(
        "coarsen-grid: here a kernel may go back to the original, which wants its whole grid "
        "(use ptxasw opt, or --variants and the launcher); ignored");
  }
  return settings;
}

} // namespace ptxasw::driver
