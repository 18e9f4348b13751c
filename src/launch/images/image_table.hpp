// The images that a program loaded, and what became of them: rows of the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::launch {

struct ImageRow {
  std::string from;      // a file, or "memory"
  std::string code;      // "replaced", "preparing", or why not: of image/reasons.def
  std::string words;     // for people, with what would help
  bool has_text = false; // PTX for the chip
  bool is_read = false;  // kernels and versions are known
  std::size_t kernels = 0, versions = 0;
  std::uint64_t count = 1; // images of this kind, loaded so often
};

[[nodiscard]] std::string images_as_text(const std::vector<ImageRow>& rows);
// The value of a member.
[[nodiscard]] std::string images_as_json(const std::vector<ImageRow>& rows);

} // namespace ptxasw::launch
