// Approximate instructions (sin.approx, div.full, ex2, ...): their bits differ from chip to chip
// and the PTX ISA gives only error bounds, so the shared semantics leave them out. The machine
// takes the correctly rounded value, which lies within every bound, and says that it did.
#pragma once

#include "semantics/concrete.hpp"
#include "semantics/step.hpp"

namespace ptxasw::simt {

// nullptr: not an approximate instruction that is known here.
sem::Step<sem::ConcreteDomain> find_approximate(const ptx::Inst& inst);

} // namespace ptxasw::simt
