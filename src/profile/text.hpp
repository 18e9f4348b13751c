// Under what a kernel is found again: the hash of its text.
//
// The compiler's text of a kernel is what both sides know: the launcher from a launch contract
// (src/contract/CONTRACT.md), for which it was hashed when versions were made of the kernel, and a
// build from the very text that it is handed. Lines that only say where the code is from (.loc,
// comments) do not count, so that an edit above a kernel, and -lineinfo, change nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxasw::profile {

// `kernel`: from its header to its last brace. Never 0.
[[nodiscard]] std::uint64_t hash_of_text(std::string_view kernel);

} // namespace ptxasw::profile
