// A file in memory. Needs nothing but the C++ library and Linux.
#pragma once

#include "image/headers.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::image {

// A file as it lies on disk, which is read where it is looked at.
class MappedFile {
public:
  // Nothing: it cannot be read, or is empty; errno says why.
  static std::optional<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const { return words_of(bytes_); }

private:
  explicit MappedFile(Bytes bytes) : bytes_(bytes) {}
  Bytes bytes_;
};

} // namespace ptxasw::image
