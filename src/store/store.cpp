// Local first. What comes from the store behind it is kept here as soon as it can be trusted: what
// is sealed at once, what is not when the caller has checked it and puts it.
#include "store/store.hpp"

#include "store/descriptor.hpp"
#include "store/files.hpp"
#include "store/remote.hpp"
#include "store/seal.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>

namespace ptxasw::store {
namespace {

constexpr std::size_t largest_secret = 4096, least_secret = 16;

std::optional<std::uint64_t> size_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const std::size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit) + 1;
  if (error != std::errc{} || unit.size() > 1 || power > 4) return std::nullopt;
  return value << (10 * power);
}

// Of a file that nobody but the user may read; or what is wrong with it.
tl::expected<std::string, std::string> read_secret(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0)
    return tl::unexpected<std::string>("cannot be read");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return tl::unexpected<std::string>("may be read by others (chmod 600)");
  auto secret = read_whole(file.get(), largest_secret);
  while (secret && secret->ends_with('\n'))
    secret->pop_back();
  if (!secret || secret->size() < least_secret)
    return tl::unexpected<std::string>("is not a file of 16 to 4096 bytes");
  if (!can_seal()) return tl::unexpected<std::string>("is of no use: built without libnettle");
  return *secret;
}

} // namespace

Settings settings_from(const Variables& variables) {
  Settings settings{.folder = usual_folder(variables),
                    .remote = variables("PTXASW_STORE").value_or("")};
  if (const auto text = variables("PTXASW_STORE_SIZE")) {
    if (const auto size = size_of(*text))
      settings.limit = *size;
    else
      settings.complaints.push_back("PTXASW_STORE_SIZE=" + *text + ": not a size; ignored");
  }
  if (const auto file = variables("PTXASW_STORE_SECRET")) {
    auto secret = read_secret(*file);
    if (secret) {
      settings.secret = std::move(*secret);
    } else { // the user wants nothing that is not sealed
      settings.remote.clear();
      settings.complaints.push_back("PTXASW_STORE_SECRET=" + *file + " " + secret.error() +
                                    "; PTXASW_STORE is not used");
    }
  }
  return settings;
}

struct Store::Behind {
  std::unique_ptr<Remote> remote; // none: it is not to be asked any more
  std::string name;
  std::string note; // what a folder says of it
  Warn warn;
  std::vector<Key> known; // what it has, as this process has seen
  bool takes_entries = true;
  std::mutex mutex; // of all of the above

  [[nodiscard]] bool is_to_be_asked(const std::optional<Folder>& folder) const {
    return remote && !(folder && folder->is_noted("down-" + note));
  }

  // Of many processes that find out at the same time, one says so.
  void tell(const std::optional<Folder>& folder, const char* kind, const std::string& why) {
    const bool is_news = !folder || folder->note(kind + note);
    if (is_news && warn) warn(name + ": " + why + "; going on without it");
    warn = {};
  }

  void give_up(const std::optional<Folder>& folder, const std::string& why) {
    tell(folder, "down-", why);
    remote.reset();
  }
};

Store::Store(Settings settings, Warn warn) : secret_(std::move(settings.secret)) {
  if (!settings.folder.empty())
    local_.emplace(settings.folder, Folder::Users::owner, settings.limit);
  if (settings.remote.empty()) return;
  auto made = remote_at(settings.remote, settings.limit);
  if (!made) {
    if (warn) warn("PTXASW_STORE: " + made.error() + "; ignored");
    return;
  }
  behind_ = std::make_unique<Behind>();
  behind_->remote = std::move(*made);
  behind_->name = shown(settings.remote);
  behind_->warn = std::move(warn);
  behind_->note = hexadecimal(key_of({settings.remote})).substr(0, 8);
}

Store::~Store() = default;

void Store::count(const Kind& kind, std::string_view what) const {
  if (local_) local_->count(std::string(kind.name).append(".").append(what));
}

std::optional<Found> Store::local(const Kind& kind, const Key& place) const {
  if (!local_) return std::nullopt;
  auto file = local_->read(place);
  if (!file) return std::nullopt;
  if (auto entry = unpack(kind, place, std::move(file->entry), {}))
    return Found{std::move(entry->bytes), file->ours};
  local_->remove(place);
  count(kind, "broken");
  return std::nullopt;
}

std::optional<Found> Store::remote(const Kind& kind, const Key& place) {
  if (!behind_ || !kind.shared) return std::nullopt;
  const std::lock_guard lock(behind_->mutex);
  if (!behind_->is_to_be_asked(local_)) return std::nullopt;
  auto file = behind_->remote->read(place);
  if (!file) {
    behind_->give_up(local_, file.error());
    return std::nullopt;
  }
  if (!*file) return std::nullopt;
  auto entry = unpack(kind, place, std::move((*file)->bytes), secret_);
  const bool is_trusted = entry && (entry->sealed || (secret_.empty() && (*file)->ours));
  if (!entry || (!secret_.empty() && !entry->sealed)) {
    behind_->tell(local_, "odd-",
                  entry ? "an entry does not bear the seal of PTXASW_STORE_SECRET"
                        : "an entry is damaged");
    count(kind, "broken");
    return std::nullopt;
  }
  behind_->known.push_back(place);
  count(kind, "remote_hits");
  if (is_trusted && local_) local_->write(place, pack(kind, place, entry->bytes, {}));
  return Found{std::move(entry->bytes), is_trusted};
}

std::optional<Found> Store::get(const Kind& kind, const Key& key) {
  try {
    const Key place = place_of(kind, key);
    if (auto found = local(kind, place)) {
      count(kind, "hits");
      return found;
    }
    if (auto found = remote(kind, place)) return found;
    count(kind, "misses");
  } catch (const std::exception&) { // no memory, or no thread
  }
  return std::nullopt;
}

void Store::put(const Kind& kind, const Key& key, std::string_view bytes) {
  if (bytes.size() > largest_entry) return;
  try {
    const Key place = place_of(kind, key);
    if (local_ && local_->write(place, pack(kind, place, bytes, {}))) count(kind, "written");
    if (!behind_ || !kind.shared) return;
    const std::lock_guard lock(behind_->mutex);
    if (!behind_->is_to_be_asked(local_) || !behind_->takes_entries ||
        std::ranges::find(behind_->known, place) != behind_->known.end())
      return;
    if (auto done = behind_->remote->write(place, pack(kind, place, bytes, secret_)); done) {
      count(kind, "remote_written");
    } else if (done.error().is_down) {
      behind_->give_up(local_, done.error().why);
    } else {
      behind_->takes_entries = false;
      behind_->tell(local_, "odd-", done.error().why);
    }
  } catch (const std::exception&) { // as above
  }
}

} // namespace ptxasw::store
