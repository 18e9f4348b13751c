// Kernels over a linear index: e = %ctaid.x * %ntid.x + %tid.x is all they know of their place
// along x, and they make two coordinates of it, e % width and e / width.
//
// What is found here says which order of elements is worth having. Whether it may be had does not
// hang on it: any permutation of e is one of the threads.
#pragma once

#include "emulator/emulate.hpp"

namespace ptxasw::passes {

struct LinearIndex {
  Why refused;     // why there is none
  sym::Term index; // e, 32 bits
  sym::Term width; // 32 bits, known on entry
  sym::Term end;   // 32 bits, known on entry: threads with e >= end have nothing to do;
                   // invalid if that is not seen
};

LinearIndex find_linear_index(emulator::Kernel& kernel);

// A term that a prologue can compute: made of constants, kernel parameters and the sizes of block
// and grid by sums, products and changes of width.
bool known_on_entry(const sym::Context& context, sym::Term t);

} // namespace ptxasw::passes
