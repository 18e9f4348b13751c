// A rewritten kernel may carry its multiply-adds written down
// (passes/pin_fma/contraction.hpp). What it has to be compared with is then the original under
// the same choices: PTX leaves to the assembler which products are fused with the sums that they go
// into, and the interpreter fuses none.
#pragma once

#include "ptx/module.hpp"

#include <string>
#include <string_view>

namespace ptxasw::verify {

struct Pinned {
  std::string text;     // the original with the second version's sums in the place of its own
  unsigned changed = 0; // instructions that were replaced
  // Of these, such that it takes an assembler to tell whether the original may mean this. The
  // others are the same operation with its rounding written down, or a sum fused with the product
  // behind one of its operands, both of which it may.
  unsigned unclear = 0;
};
// Instructions are matched by the names of the registers that they write, in order; so the second
// version must have the original's names, as every rewrite leaves them to one copy of the body.
Pinned pin_like(const ptx::Module& original, const ptx::Module& second, std::string_view kernel);

} // namespace ptxasw::verify
