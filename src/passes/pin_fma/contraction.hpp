// Which multiply-add pairs ptxas fuses, made explicit.
//
// mul and add without a rounding modifier "may be optimized aggressively", which for ptxas means:
// a product may become part of a fused multiply-add, with one rounding less (PTX ISA, mul/add/sub
// on floating point). Where both operands of an addition are products it is ptxas' choice which of
// the two is fused, and the choice moves with the code around it: a rewrite that only replaced
// loads changed the last bit of results (measured on an H200 with SW4-like stencils). To keep the
// promise of bitwise equal results the choice has to be the original's. So the choice is read from
// the original's machine code (passes/pin_fma/recovery.hpp) and written down here, with
// explicit .rn operations; then it is verified that the pinned text gives the machine code of the
// original, and the pinned text is rewritten in its place.
//
// What is written is what ptxas itself makes of it, so that the code stays the same to the last
// register: products stay as they are (nothing is left that could fuse them), a sign goes into an
// immediate if there is one, else to the factor that the machine code negates; a division whose
// last product is fused is spelled out in ptxas' own steps.
#pragma once

#include "passes/shared/sites.hpp"
#include "ptx/body.hpp"
#include "ptx/parse.hpp"

#include <map>
#include <vector>

namespace ptxasw::passes {

struct FuseChoice {
  enum class Fuse : std::uint8_t { none, first, second } fuse = Fuse::none;
  int negated_factor = -1; // 0, 1: the factor that carries a sign; -1: either
  friend bool operator==(const FuseChoice&, const FuseChoice&) = default;
};
using FuseChoices = std::map<ptx::InstId, FuseChoice>; // by sum

// Gives every site its choice; those without one are not fused. A product that is to be fused must
// be writable. No line is added, and no sum is fusable afterwards (contraction_latitude.hpp) but
// for those of f32x2.
std::vector<ptx::Edit> pin(const ptx::Body& body, const Reaching& reaching,
                           const std::vector<Site>& sites, const FuseChoices& choices);

} // namespace ptxasw::passes
