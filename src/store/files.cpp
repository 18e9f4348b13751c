// Interrupted calls are made again; all other errors end them.
#include "store/files.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::store {

std::optional<std::string> read_whole(int file, std::size_t limit) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > limit) return std::nullopt;
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt; // also one that was cut meanwhile
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

bool write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void make_folders(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1); end != std::string::npos;
       end = folder.find('/', end + 1))
    ::mkdir(folder.substr(0, end).c_str(), 0700);
  ::mkdir(folder.c_str(), 0700);
}

} // namespace ptxasw::store
