// The questions and answers of the optimizer as entries of the store.
#include "driver/decision_cache.hpp"

#include "driver/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace ptxasw::driver {
namespace {

constexpr store::Kind decisions{"decisions", 5};
constexpr store::Kind programs{"programs", 1, false};        // hashes of files, by their marks
constexpr std::size_t largest_answer = std::size_t{1} << 20; // a text that was rewritten, too

store::Settings settings_for(std::string_view place, const Environment& environment) {
  auto settings =
      store::settings_from([&](std::string_view name) { return environment.get(name); });
  if (place == "off")
    settings = {};
  else if (!place.empty())
    settings.folder = place;
  return settings;
}

std::string file_mark(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path;
  return fmt::format("{} {} {} {} {}.{}", path, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

} // namespace

DecisionCache::DecisionCache(std::string_view place, const Environment& environment,
                             const store::Store::Warn& warn)
    : DecisionCache(settings_for(place, environment), warn) {}

DecisionCache::DecisionCache(const store::Settings& settings, const store::Store::Warn& warn)
    : shared_(!settings.remote.empty()), store_(settings, warn) {
  for (const std::string& complaint : settings.complaints)
    warn(complaint);
}

std::optional<Recalled> DecisionCache::recall(std::string_view conditions, std::string_view text) {
  auto found = store_.get(decisions, store::key_of({conditions, text}));
  if (!found) return std::nullopt;
  return Recalled{std::move(found->bytes), found->trusted};
}

void DecisionCache::remember(std::string_view conditions, std::string_view text,
                             std::string_view answer) {
  if (answer.size() <= largest_answer)
    store_.put(decisions, store::key_of({conditions, text}), answer);
}

std::string DecisionCache::identity(const std::string& path) {
  std::string mark = file_mark(path);
  if (!shared_) return mark;
  const store::Key key = store::key_of({mark});
  if (auto known = store_.get(programs, key); known && known->trusted) return known->bytes;
  const auto hash = hash_regular_file(path);
  if (!hash) return mark;
  std::string identity = fmt::format("{:016x}", *hash);
  store_.put(programs, key, identity);
  return identity;
}

} // namespace ptxasw::driver
