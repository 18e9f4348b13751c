// Files as the driver needs them: the text of an ordinary file, a file that exists only in memory,
// and the question whether two paths are the same file.
//
// What ptxas is to read in place of its input, and what it prints while we wait, lives in memory
// files: ordinary, seekable files that a child opens as /proc/self/fd/N as often as it likes, that
// need no directory, and that vanish with the processes, however those end.
#pragma once

#include "store/descriptor.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace ptxasw::driver {

// The bytes of a regular file, or why they were not read ("not a regular file", "larger than ...").
tl::expected<std::string, std::string> read_regular_file(const std::string& path,
                                                         std::size_t limit);

// Everything that is left in a descriptor.
tl::expected<std::string, std::string> read_all(int descriptor);
bool write_all(int descriptor, std::string_view text);

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};
std::optional<FileId> file_id(const std::string& path); // follows symbolic links

// A file of its own to write, or none yet. Devices and FIFOs are left to ptxas: we may have to
// write more than once.
bool is_plain_output(const std::string& path);
// As a compiler writes its output: into the file that is there, or a new one.
bool write_output(const std::string& path, std::string_view bytes);

bool is_executable_file(const std::string& path);
std::string own_program_file(); // of this process, links resolved

class MemoryFile {
public:
  // `inherited` files stay open in the programs we start.
  static std::optional<MemoryFile> create(std::string_view content = {}, bool inherited = false);

  [[nodiscard]] int descriptor() const { return file.get(); }
  [[nodiscard]] std::string path() const; // for this process and for those that inherit it
  [[nodiscard]] std::string content() const;
  void rewind() const;

private:
  explicit MemoryFile(store::Descriptor d) : file(std::move(d)) {}
  store::Descriptor file;
};

std::uint64_t hash(std::string_view bytes); // XXH3
std::optional<std::uint64_t> hash_regular_file(const std::string& path);

} // namespace ptxasw::driver
