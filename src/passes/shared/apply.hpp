// From edits to the rewritten text, in which every name means what it was meant to.
//
// The text is read and resolved again, and for each changed function compared, name by name:
//   - a name in text that was kept has to mean what it meant; in emitted text its mark says what
//     (bindings.hpp), and names of the rewrite's own may not be declared by the original;
//   - two names are one register if and only if one register was meant, of the type that it had;
//   - everything named is declared, and labels are in sight;
//   - registers are as wide as the emitted instructions that read or write them say, where the
//     original had no such misfit.
// So the new body is the intended one up to a renaming of registers, whatever blocks { } declare.
// Whatever fails keeps its function as it was; the others are still rewritten.
#pragma once

#include "ptx/parse.hpp"
#include "ptxasw/reason.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::passes {

struct FunctionEdits {
  std::size_t function = 0; // index into Module::functions
  std::vector<ptx::Edit> edits;
  Why refused; // set by apply(): why the edits were left out
};

// Which text of the module stands where in the new one: what was kept, and copies of pieces.
class Origins {
public:
  // Both in order of `at`.
  void keep(std::uint32_t at, std::uint32_t size, std::uint32_t from);
  void copy(std::uint32_t at, std::uint32_t from); // of a piece that begins at `from`

  // The offset in the module of text that was kept at an offset of the new one.
  [[nodiscard]] std::optional<std::uint32_t> kept(std::uint32_t at) const;
  // What the end of a range of the new text was kept from, or the piece in it is a copy of.
  [[nodiscard]] std::optional<std::uint32_t> of(ptx::Range where) const;

private:
  struct Piece {
    std::uint32_t at = 0, size = 0, from = 0; // size 0: a copy
  };
  std::vector<Piece> pieces_;
};

struct Rewritten {
  std::string text;
  Origins origins;
  std::optional<ptx::Module> module; // of the text; none where nothing was changed
};
Rewritten apply(const ptx::Module& module, std::span<FunctionEdits> changes);

// The text with these edits, unchecked: to see what an assembler makes of it, never to be kept.
std::string draft(const ptx::Module& module, std::span<const ptx::Edit> edits);

} // namespace ptxasw::passes
