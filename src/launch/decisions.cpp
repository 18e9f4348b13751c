// Reads and writes the file of decisions, one line each.
#include "launch/decisions.hpp"

#include "launch/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

constexpr off_t largest_file = 4 << 20;
constexpr const char* slow = "slow"; // no entry is faster

} // namespace

std::string Decisions::usual_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (cache != nullptr && *cache == '/')
    folder = cache;
  else if (home != nullptr && *home == '/')
    folder = std::string(home) + "/.cache";
  else
    return {};
  ::mkdir(folder.c_str(), 0700);
  folder += "/ptxasw";
  ::mkdir(folder.c_str(), 0700);
  return folder + "/launches";
}

Decisions::Decisions(std::string file) : file_(std::move(file)) {
  struct stat info {};
  if (file_.empty() || ::stat(file_.c_str(), &info) != 0) return;
  if (info.st_size > largest_file) {
    ::unlink(file_.c_str());
    return;
  }
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.rfind('\t');
    if (tab != std::string::npos) known_[line.substr(0, tab)] = line.substr(tab + 1);
  }
}

std::string Decisions::key_of(const Kernel& kernel, const Shape& shape) {
  std::string chip = kernel.chip;
  std::ranges::replace(chip, '\t', ' ');
  return std::to_string(kernel.contract.code) + '\t' + chip + '\t' + text_of(shape.grid) + '\t' +
         text_of(shape.block) + '\t' + std::to_string(shape.shared);
}

std::optional<std::string> Decisions::find(const Kernel& kernel, const Shape& shape) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key_of(kernel, shape));
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

void Decisions::keep(const Kernel& kernel, const Shape& shape, const std::string& variant) {
  keep(key_of(kernel, shape), variant);
}

void Decisions::keep(const std::string& key, const std::string& value) {
  const std::string line = key + '\t' + value + '\n';
  const std::lock_guard lock(mutex_);
  known_[key] = value;
  if (file_.empty()) return;
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

void Decisions::recall_steps(const Kernel& kernel, Shape& shape) {
  shape.steps_key = key_of(kernel, shape) + "\tsteps";
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(shape.steps_key);
  if (found == known_.end()) return;
  shape.is_merging_slow = found->second == slow;
  shape.period.recall(found->second);
}

void Decisions::keep_steps(const Shape& shape) {
  if (shape.steps_key.empty()) return;
  const std::string found = shape.is_merging_slow ? slow : shape.period.findings();
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(shape.steps_key);
    if (found.empty() || (known != known_.end() && known->second == found)) return;
  }
  keep(shape.steps_key, found);
}

} // namespace ptxasw::launch
