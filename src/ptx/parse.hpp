// Text -> Module -> text.
#pragma once

#include "ptx/module.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::ptx {

// Reads any bytes. Never fails as a whole: what the grammar cannot read becomes an opaque statement
// with a diagnostic, and reading goes on behind the next ';', '}' or line that starts a statement.
// Linear time, no recursion on the input's nesting. Texts of 4 GiB or more give one opaque
// statement.
Module parse(std::string text, std::string file = "<ptx>");

// How much of a text was understood; opaque statements and their bytes are what is missing.
struct Coverage {
  std::size_t statements = 0, opaque_statements = 0;
  std::size_t bytes = 0, opaque_bytes = 0;
};
Coverage coverage(const Module& module);

// Gives the input bytes back, assembled from the statements and the trivia between them.
std::string print(const Module& module);

// Replacement of a byte range of the text; an empty range inserts before `where.begin`.
struct Edit {
  Range where;
  std::string text;
};

// A run of an edited text: of the module's own text, or of an edit's.
struct Piece {
  std::string_view text;
  std::uint32_t from = ~0U; // offset in the module's text, if it is from there
};

// The edited text in pieces that refer to the module and the edits. Edits may come in any order;
// they must not overlap. Edits that insert at the same place keep their order.
std::vector<Piece> pieces(const Module& module, std::span<const Edit> edits);
std::string print(const Module& module, std::span<const Edit> edits);

} // namespace ptxasw::ptx
