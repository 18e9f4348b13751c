// One small file for each entry, in one of 256 folders; written beside its place and renamed, so
// that readers see all of it or nothing. A folder that is full loses its oldest entries.
#include "driver/decision_cache.hpp"

#include "driver/descriptor.hpp"
#include "driver/files.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace ptxasw::driver {
namespace {

constexpr std::size_t largest_entry = std::size_t{1} << 16;
constexpr std::size_t most_in_folder = 128; // of 256 folders
std::string header_for(std::string_view question_hash) {
  return fmt::format("ptxasw decisions 2 {}\n", question_hash);
}

// Where nobody else can write.
bool is_ours(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_folder(const std::string& path) {
  std::error_code failed;
  const auto parent = std::filesystem::path(path).parent_path();
  if (!std::filesystem::is_directory(parent, failed))
    std::filesystem::create_directories(parent, failed);
  return ::mkdir(path.c_str(), 0700) == 0 || std::filesystem::is_directory(path, failed);
}

// Of a full folder, so many that it is half empty.
void drop_oldest(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    entries.emplace_back(at->last_write_time(failed), at->path());
  if (entries.size() < most_in_folder) return;
  std::ranges::sort(entries);
  for (std::size_t n = 0; n < entries.size() / 2; ++n)
    fs::remove(entries[n].second, failed);
}

} // namespace

DecisionCache::DecisionCache(std::string_view place, const Environment& environment) {
  if (place == "off") return;
  if (!place.empty()) {
    root_ = place;
  } else if (const auto xdg = environment.get("XDG_CACHE_HOME"); xdg && xdg->starts_with('/')) {
    root_ = *xdg + "/ptxasw";
  } else if (const auto home = environment.get("HOME"); home && home->starts_with('/')) {
    root_ = *home + "/.cache/ptxasw";
  }
}

std::string DecisionCache::folder_of(std::string_view name) const {
  return fmt::format("{}/{}", root_, name.substr(0, 2));
}

std::optional<std::string> DecisionCache::recall(std::string_view question) const {
  if (root_.empty()) return std::nullopt;
  const std::string name = long_hash(question), folder = folder_of(name);
  if (!is_ours(root_) || !is_ours(folder)) return std::nullopt;
  auto entry = read_regular_file(folder + "/" + name, largest_entry);
  const std::string header = header_for(name);
  if (!entry || !entry->starts_with(header)) return std::nullopt;
  return entry->substr(header.size());
}

void DecisionCache::remember(std::string_view question, std::string_view answer) const {
  if (root_.empty() || answer.size() > largest_entry / 2) return;
  const std::string name = long_hash(question), folder = folder_of(name);
  if (!make_folder(root_) || !make_folder(folder)) return;
  const std::string beside = fmt::format("{}/{}.{}", folder, name, ::getpid());
  {
    const Descriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return;
    if (!write_all(file.get(), header_for(name).append(answer))) {
      ::unlink(beside.c_str());
      return;
    }
  }
  if (::rename(beside.c_str(), (folder + "/" + name).c_str()) != 0) ::unlink(beside.c_str());
  drop_oldest(folder);
}

std::string file_mark(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return path;
  return fmt::format("{} {} {} {} {}.{}", path, info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

} // namespace ptxasw::driver
