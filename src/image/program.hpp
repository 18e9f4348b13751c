// Fat binaries in programs and libraries, and the libraries that a program loads.
#pragma once

#include "image/headers.hpp"

#include <string>
#include <vector>

namespace ptxasw::image {

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
