// Local first.
#include "store/store.hpp"

#include <charconv>

namespace ptxasw::store {
namespace {

std::optional<std::uint64_t> size_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const std::size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit) + 1;
  if (error != std::errc{} || unit.size() > 1 || power > 4) return std::nullopt;
  return value << (10 * power);
}

std::string counter(const Kind& kind, std::string_view what) {
  return std::string(kind.name).append(".").append(what);
}

// What is kept of it lies in a place of its own: other versions do not take it for theirs.
Key place_of(const Kind& kind, const Key& key) {
  return key_of({kind.name, std::to_string(kind.version), hexadecimal(key)});
}

} // namespace

std::string usual_folder(const Variables& variables) {
  if (const auto xdg = variables("XDG_CACHE_HOME"); xdg && xdg->starts_with('/'))
    return *xdg + "/ptxasw";
  if (const auto home = variables("HOME"); home && home->starts_with('/'))
    return *home + "/.cache/ptxasw";
  return {};
}

Settings settings_from(const Variables& variables) {
  Settings settings{.folder = usual_folder(variables)};
  if (const auto size = variables("PTXASW_STORE_SIZE"))
    settings.limit = size_of(*size).value_or(settings.limit);
  return settings;
}

Store::Store(Settings settings) : settings_(std::move(settings)) {
  if (!settings_.folder.empty())
    local_.emplace(settings_.folder, Folder::Users::owner, settings_.limit);
}

std::optional<Found> Store::get(const Kind& kind, const Key& key) {
  if (!local_) return std::nullopt;
  const Key place = place_of(kind, key);
  if (auto file = local_->read(place)) {
    if (auto entry = unpack(kind, place, std::move(file->entry), {})) {
      local_->count(counter(kind, "hits"));
      return Found{std::move(entry->bytes), file->ours};
    }
    local_->remove(place);
    local_->count(counter(kind, "broken"));
  }
  local_->count(counter(kind, "misses"));
  return std::nullopt;
}

void Store::put(const Kind& kind, const Key& key, std::string_view bytes) {
  if (!local_ || bytes.size() > largest_entry) return;
  const Key place = place_of(kind, key);
  if (local_->write(place, pack(kind, place, bytes, {}))) local_->count(counter(kind, "written"));
}

} // namespace ptxasw::store
