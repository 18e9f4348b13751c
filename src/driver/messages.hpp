// Makes what ptxas says about rewritten PTX read as if it had seen the original: the input's name
// and line, and no -v lines that the caller did not ask for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

// For each line of `rewritten` (from index 0) the line of `original` it stands for (from 1). Lines
// that were added belong to the original line before which they stand.
std::vector<std::uint32_t> map_lines(std::string_view original, std::string_view rewritten);

struct StandIn {
  std::string path;          // the file that ptxas was given
  std::string original_path; // the one it stands for
  std::string_view original, rewritten;
};

std::string in_terms_of_original(std::string messages, const StandIn& file);

// Drops the lines that -v adds.
std::string without_statistics(std::string_view messages);

// Drops what ptxas says under -maxrregcount of entries that state a block size: where the text as
// it came states none, those are entries that were added.
std::string without_entry_limits(std::string_view messages);

} // namespace ptxasw::driver
