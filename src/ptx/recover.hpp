// What to do with a statement that the grammar cannot read: say why, and find where to go on.
#pragma once

#include "ptx/source.hpp"

#include <cstdint>
#include <string_view>

namespace ptxasw::ptx {

struct Unreadable {
  Range range; // never empty; a statement or the end of the text follows
  Diagnostic diagnostic;
};

// `begin` is the offset of the statement's first byte.
Unreadable examine(std::string_view text, std::uint32_t begin);

} // namespace ptxasw::ptx
