// The questions and answers of the optimizer as entries of the store.
#include "driver/decision_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace ptxasw::driver {
namespace {

constexpr store::Kind decisions{"decisions", 3};
constexpr std::size_t largest_answer = std::size_t{1} << 15;

store::Settings settings_for(std::string_view place, const Environment& environment) {
  auto settings =
      store::settings_from([&](std::string_view name) { return environment.get(name); });
  if (place == "off")
    settings = {};
  else if (!place.empty())
    settings.folder = place;
  return settings;
}

} // namespace

DecisionCache::DecisionCache(std::string_view place, const Environment& environment)
    : store_(settings_for(place, environment)) {}

std::optional<std::string> DecisionCache::recall(std::string_view conditions,
                                                 std::string_view text) {
  auto found = store_.get(decisions, store::key_of({conditions, text}));
  if (!found || !found->trusted) return std::nullopt;
  return std::move(found->bytes);
}

void DecisionCache::remember(std::string_view conditions, std::string_view text,
                             std::string_view answer) {
  if (answer.size() <= largest_answer)
    store_.put(decisions, store::key_of({conditions, text}), answer);
}

std::string file_mark(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path;
  return fmt::format("{} {} {} {} {}.{}", path, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

} // namespace ptxasw::driver
