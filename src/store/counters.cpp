// Read, changed and written back as a whole, in one write each.
#include "store/counters.hpp"

#include "store/descriptor.hpp"
#include "store/files.hpp"
#include "words/words.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <time.h>

namespace ptxasw::store {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 16;
constexpr int tries = 20; // a millisecond each

bool lock(int file) {
  for (int n = 0; n < tries; ++n) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

Counts parsed(std::string_view text) {
  Counts counts;
  while (!text.empty()) {
    std::string_view line = words::take(text, "\n");
    const std::string_view name = words::take(line, " ");
    const auto value = words::number<std::int64_t>(line);
    if (!name.empty() && value) counts[std::string(name)] = *value;
  }
  return counts;
}

std::string written(const Counts& counts) {
  std::string text;
  for (const auto& [name, value] : counts)
    text += name + ' ' + std::to_string(value) + '\n';
  return text;
}

} // namespace

Counts Counters::read() const {
  const Descriptor file(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return {};
  return parsed(read_whole(file.get(), largest_file).value_or(""));
}

template <class Change> std::optional<Counts> Counters::change(const Change& by) const {
  const Descriptor file(
      ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file || !lock(file.get())) return std::nullopt;
  const std::string before = read_whole(file.get(), largest_file).value_or("");
  Counts counts = parsed(before);
  by(counts);
  const std::string after = written(counts);
  if (::pwrite(file.get(), after.data(), after.size(), 0) != static_cast<ssize_t>(after.size()))
    return std::nullopt;
  if (after.size() < before.size() &&
      ::ftruncate(file.get(), static_cast<off_t>(after.size())) != 0)
    return std::nullopt;
  return counts;
}

std::optional<Counts>
Counters::add(std::initializer_list<std::pair<std::string, std::int64_t>> what) const {
  return change([&](Counts& counts) {
    for (const auto& [name, value] : what)
      counts[name] += value;
  });
}

void Counters::set(const std::string& name, std::int64_t value) const {
  change([&](Counts& counts) { counts[name] = value; });
}

} // namespace ptxasw::store
