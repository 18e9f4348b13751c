// Which multiply-add pairs ptxas fuses, made explicit.
//
// mul and add without a rounding modifier "may be optimized aggressively", which for ptxas means:
// a product may become part of a fused multiply-add, with one rounding less (PTX ISA, mul/add/sub
// on floating point). Where both operands of an addition are products it is ptxas' choice which of
// the two is fused, and the choice moves with the code around it: a rewrite that only replaced
// loads changed the last bit of results (measured on an H200 with SW4-like stencils). To keep the
// promise of bitwise equal results the choice has to be the original's. So: pin() writes a choice
// down with explicit .rn operations; the driver assembles the pinned original, and if its machine
// code is byte for byte the original's, the choice is the one ptxas makes, and the pinned text is
// rewritten in the original's place.
#pragma once

#include "ptx/body.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"

#include <vector>

namespace ptxasw::rewrite {

// Gives every add, sub and mul without rounding its .rn, and fuses the fusable ones as asked. Line
// numbers do not change. Afterwards no sum is fusable (float_freedom.hpp), but for those of f32x2.
std::vector<ptx::Edit> pin(const ptx::Body& body, Contraction choice);

} // namespace ptxasw::rewrite
