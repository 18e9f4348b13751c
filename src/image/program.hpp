// Fat binaries in programs and libraries, and the libraries that a program loads.
#pragma once

#include "image/headers.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  [[nodiscard]] std::string_view text() const;

private:
  explicit MappedFile(Bytes bytes) : bytes_(bytes) {}
  Bytes bytes_;
};

struct Embedded {
  Bytes image;
  std::uint64_t offset = 0;    // in the file
  bool is_relocatable = false; // of separate compilation, and linked into another one
};
// Those of an ELF file, in order: of its sections .nv_fatbin and __nv_relfatbin. A file that is a
// fat binary or a cubin has one, itself. What is damaged ends its section.
[[nodiscard]] std::vector<Embedded> fat_binaries_in(Bytes file);

// How ld.so finds libraries.
struct LibrarySearch {
  std::string library_path; // LD_LIBRARY_PATH
  std::string cache = "/etc/ld.so.cache";
  std::vector<std::string> usual{"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
};
// The files that the loader maps for a program or library besides it, each once, in the order in
// which ld.so comes upon them (by DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, the usual
// folders). What is not found is left out.
[[nodiscard]] std::vector<std::string> libraries_of(const std::string& path,
                                                    const LibrarySearch& search);

} // namespace ptxasw::image
