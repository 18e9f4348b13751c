// What ptxasw prepare tells of the images of programs.
#pragma once

#include "contract/listing.hpp"
#include "image/prepared.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::tool {

struct PreparedRow {
  std::string file;
  std::uint64_t offset = 0, bytes = 0; // of the image in the file
  image::Prepared prepared;
  bool has_text = false; // PTX of its machine code for the chip
  bool failed = false;
  std::string state; // "found", "prepared", "not kept", "failed"; empty: passed over
  std::map<std::string, std::vector<contract::Listed>> versions; // by kernel
};

struct Headline {
  std::string chip;
  bool was_chosen = false; // by us
  std::string assembler;   // release of ptxas; empty: none
  std::string folder;
};

[[nodiscard]] std::string as_text(const Headline& headline, const std::vector<PreparedRow>& rows);
[[nodiscard]] std::string as_json(const Headline& headline, const std::vector<PreparedRow>& rows);

} // namespace ptxasw::tool
