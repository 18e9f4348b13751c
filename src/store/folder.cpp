// How much there is, is counted as it is written, and found out anew when that is beyond the limit.
#include "store/folder.hpp"

#include "store/descriptor.hpp"
#include "store/files.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <vector>

namespace ptxasw::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t page = 4096;
constexpr time_t forgotten = 3600; // seconds after which nobody writes a file any more
constexpr time_t pause = 30;       // seconds for which a note counts
constexpr std::string_view digits = "0123456789abcdef";

std::uint64_t on_disk(std::uint64_t bytes) {
  return (bytes + page - 1) / page * page;
}

// Where nobody else can write.
bool is_ours(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
bool is_ours(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && is_ours(info);
}

std::string random_name() {
  Key key;
  if (::getrandom(&key, sizeof key, 0) != sizeof key) key = {};
  return hexadecimal(key);
}

bool is_name(std::string_view name, std::size_t size) {
  return name.size() >= size &&
         name.substr(0, size).find_first_not_of(digits) == std::string_view::npos;
}

struct Kept {
  std::string path;
  std::uint64_t bytes = 0;
  time_t used = 0;
  bool is_whole = true; // and not still being written
};

template <class Visit> void each_name(const std::string& folder, const Visit& visit) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    visit(at->path().filename().string());
}

std::vector<Kept> all_in(const std::string& root) {
  std::vector<Kept> kept;
  each_name(root, [&](const std::string& folder) {
    if (folder.size() != 2 || !is_name(folder, 2)) return;
    each_name(root + '/' + folder, [&](const std::string& name) {
      struct stat info {};
      Kept file{.path = root + '/' + folder + '/' + name, .is_whole = name.size() == 32};
      if (!is_name(name, 32) || ::lstat(file.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return;
      file.bytes = on_disk(static_cast<std::uint64_t>(info.st_size));
      file.used = info.st_mtime;
      kept.push_back(std::move(file));
    });
  });
  return kept;
}

} // namespace

std::string usual_folder(const Variables& variables) {
  if (const auto xdg = variables("XDG_CACHE_HOME"); xdg && xdg->starts_with('/'))
    return *xdg + "/ptxasw";
  if (const auto home = variables("HOME"); home && home->starts_with('/'))
    return *home + "/.cache/ptxasw";
  return {};
}

std::string Folder::folder_of(const Key& key) const {
  return path_ + '/' + hexadecimal(key).substr(0, 2);
}

std::string Folder::file_of(const Key& key) const {
  return folder_of(key) + '/' + hexadecimal(key);
}

std::optional<Folder::File> Folder::read(const Key& key) const {
  const Descriptor file(
      ::open(file_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return std::nullopt;
  auto entry = read_whole(file.get(), largest_entry + header_size);
  if (!entry) return std::nullopt;
  ::futimens(file.get(), nullptr); // it was used
  return File{std::move(*entry), is_ours(info) && is_ours(path_) && is_ours(folder_of(key))};
}

bool Folder::make(const std::string& path) const {
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  return ::mkdir(path.c_str(), users_ == Users::owner ? 0700 : 0777) == 0 || errno == EEXIST;
}

bool Folder::is_noted(const std::string& name) const {
  struct stat info {};
  return ::stat((path_ + '/' + name).c_str(), &info) == 0 &&
         info.st_mtime + pause > ::time(nullptr);
}

bool Folder::note(const std::string& name) const {
  if (is_noted(name)) return false;
  const std::string file = path_ + '/' + name;
  ::unlink(file.c_str());
  const bool can_be_made = make(path_);
  const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return made || !can_be_made || errno != EEXIST;
}

bool Folder::write(const Key& key, std::string_view entry) const {
  if (!make(path_) || !make(folder_of(key))) return false;
  const std::string beside = file_of(key) + '.' + random_name();
  {
    const Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                 users_ == Users::owner ? 0600 : 0666));
    if (!file) return false;
    if (!write_whole(file.get(), entry)) {
      ::unlink(beside.c_str());
      return false;
    }
  }
  if (::rename(beside.c_str(), file_of(key).c_str()) != 0) {
    ::unlink(beside.c_str());
    return false;
  }
  added(entry.size());
  return true;
}

void Folder::remove(const Key& key) const {
  ::unlink(file_of(key).c_str());
}

void Folder::count(const std::string& name) const {
  counters().add({{name, 1}});
}

Folder::Content Folder::content() const {
  Content content;
  for (const Kept& file : all_in(path_)) {
    ++content.files;
    content.bytes += file.bytes;
  }
  return content;
}

void Folder::added(std::uint64_t bytes) const {
  const bool is_known = counts().contains("bytes");
  const auto now = counters().add({{"bytes", static_cast<std::int64_t>(on_disk(bytes))}});
  if (now && (!is_known || now->at("bytes") > static_cast<std::int64_t>(limit_))) sweep();
}

// One process at a time; the others have more to do than to wait for it.
void Folder::sweep() const {
  const Descriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::vector<Kept> files = all_in(path_);
  std::ranges::sort(files, {}, &Kept::used);
  std::uint64_t bytes = 0;
  for (const Kept& file : files)
    bytes += file.bytes;
  const std::uint64_t wanted = bytes > limit_ ? limit_ / 5 * 4 : limit_;
  const time_t now = ::time(nullptr);
  for (const Kept& file : files) {
    const bool is_left_over = !file.is_whole && file.used < now - forgotten;
    if (!is_left_over && (bytes <= wanted || !file.is_whole)) continue;
    if (::unlink(file.path.c_str()) == 0) bytes -= file.bytes;
  }
  counters().set("bytes", static_cast<std::int64_t>(bytes));
}

std::optional<std::string> read_own(const Folder& entries, const Kind& kind, const Key& key) {
  const Key place = place_of(kind, key);
  auto file = entries.read(place);
  if (!file || !file->ours) return std::nullopt;
  auto entry = unpack(kind, place, std::move(file->entry), {});
  return entry ? std::move(entry->bytes) : "";
}

bool write_own(const Folder& entries, const Kind& kind, const Key& key, std::string_view bytes) {
  const Key place = place_of(kind, key);
  return entries.write(place, pack(kind, place, bytes, {}));
}

} // namespace ptxasw::store
