#include "prepare/turn.hpp"

#include "store/files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ptxasw::prepare {
namespace {

constexpr std::size_t largest_file = 64;

std::string folder_in(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  const std::string path = folder + "/preparing";
  ::mkdir(path.c_str(), 0700);
  return path;
}

store::Descriptor opened(const std::string& path) {
  return store::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

bool lock(int file, Turn::Others others) {
  int done = 0;
  do
    done = ::flock(file, LOCK_EX | (others == Turn::Others::leave ? LOCK_NB : 0));
  while (done != 0 && errno == EINTR);
  return done == 0;
}

// Not removed by whoever held it before.
bool is_still_there(int file, const std::string& path) {
  struct stat ours {
  }, there{};
  return ::fstat(file, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

} // namespace

Turn::Turn(std::string path, store::Descriptor file)
    : path_(std::move(path)), file_(std::move(file)) {
  const std::string content = store::read_whole(file_.get(), largest_file).value_or("");
  begun_ = static_cast<unsigned>(std::ranges::count(content, '\n'));
}

std::optional<Turn> Turn::take(const std::string& folder, const image::ImageKey& key,
                               Others others) {
  const std::string path = folder_in(folder) + '/' + store::hexadecimal(key);
  for (;;) {
    store::Descriptor file = opened(path);
    if (!file || !lock(file.get(), others)) return std::nullopt;
    if (is_still_there(file.get(), path)) return Turn(path, std::move(file));
  }
}

bool Turn::begin() {
  return ::lseek(file_.get(), 0, SEEK_END) >= 0 && store::write_whole(file_.get(), "begun\n");
}

void Turn::done() {
  ::unlink(path_.c_str());
}

std::optional<store::Descriptor> only_one(const std::string& folder) {
  store::Descriptor file = opened(folder_in(folder) + "/one");
  if (!file || !lock(file.get(), Turn::Others::wait)) return std::nullopt;
  return file;
}

} // namespace ptxasw::prepare
