// Files in memory and on disk, by descriptors.
#include "driver/files.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace ptxasw::driver {
namespace {

std::string why() {
  return std::strerror(errno);
}

} // namespace

tl::expected<std::string, std::string> read_all(int descriptor) {
  std::string text;
  struct stat info {};
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode))
    text.reserve(static_cast<std::size_t>(info.st_size));
  std::string buffer(std::size_t{1} << 16, '\0'); // not on the stack, which may be small
  for (;;) {
    const ssize_t n = ::read(descriptor, buffer.data(), buffer.size());
    if (n == 0) return text;
    if (n > 0)
      text.append(buffer.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return tl::unexpected(why());
  }
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n > 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

tl::expected<std::string, std::string> read_regular_file(const std::string& path,
                                                         std::size_t limit) {
  struct stat info {};
  // Opening a FIFO would wait for its writer, so look before.
  if (::stat(path.c_str(), &info) != 0) return tl::unexpected(why());
  if (!S_ISREG(info.st_mode)) return tl::unexpected<std::string>("not a regular file");
  if (static_cast<std::size_t>(info.st_size) > limit)
    return tl::unexpected(fmt::format("larger than {} bytes", limit));
  const store::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return tl::unexpected(why());
  return read_all(file.get());
}

std::optional<FileId> file_id(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

bool is_plain_output(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

bool write_output(const std::string& path, std::string_view bytes) {
  constexpr mode_t as_the_umask_says = 0666;
  const store::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, as_the_umask_says));
  return file && write_all(file.get(), bytes);
}

bool is_executable_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string own_program_file() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return path;
}

std::optional<MemoryFile> MemoryFile::create(std::string_view content, bool inherited) {
  MemoryFile made(
      store::Descriptor(::memfd_create("ptxasw", inherited ? 0U : unsigned{MFD_CLOEXEC})));
  if (!made.file || !write_all(made.descriptor(), content)) return std::nullopt;
  made.rewind();
  // Without /proc the child could not open it.
  if (inherited && !file_id(made.path())) return std::nullopt;
  return made;
}

std::string MemoryFile::path() const {
  return fmt::format("/proc/self/fd/{}", file.get());
}

std::string MemoryFile::content() const {
  rewind();
  return read_all(file.get()).value_or("");
}

void MemoryFile::rewind() const {
  ::lseek(file.get(), 0, SEEK_SET);
}

std::uint64_t hash(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// Mapped, not read: --version hashes this very program, and copying it took longer than all the
// rest.
std::optional<std::uint64_t> hash_regular_file(const std::string& path) {
  const store::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return hash({});
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
  if (bytes == MAP_FAILED) return std::nullopt;
  const std::uint64_t value = hash({static_cast<const char*>(bytes), size});
  ::munmap(bytes, size);
  return value;
}

} // namespace ptxasw::driver
