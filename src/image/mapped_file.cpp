#include "image/mapped_file.hpp"

#include "store/descriptor.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

namespace ptxasw::image {

std::optional<MappedFile> MappedFile::open(const std::string& path) {
  const store::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    errno = ENOEXEC;
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) return std::nullopt;
  return MappedFile(Bytes(static_cast<const std::byte*>(at), size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); // NOLINT
}

} // namespace ptxasw::image
