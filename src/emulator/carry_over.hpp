// The emulation of a function kept for another text of it, in which only arithmetic was changed
// that no address and no branch hangs on (pinned multiply-adds).
//
// What emulate() does is a function of the instructions that it looks at (all but pure ones whose
// results nobody follows), of the control flow around them, of which of the followed registers are
// live at the loops, and of how these vary. So the two bodies are compared in just that:
//   - blocks, their edges and dominators, and loops are the same;
//   - block by block, the instructions that are looked at are the same, one for one, with the same
//     operands under one renaming of registers, to registers of the same names and types;
//   - the same registers are followed, in the same order, live at the same loops and varying alike,
//     and loops and branches vary alike;
//   - symbols are the same; there are no calls (a callee's text may have changed as well).
// Where all that holds, emulate() would make the same terms in the same order. They are kept, and
// what names an instruction or a register names the new one. Nothing is assumed of who changed the
// text, nor of how.
#pragma once

#include "emulator/emulate.hpp"

#include <optional>

namespace ptxasw::emulator {

// Takes the terms from `earlier`, which is of no use then; none where that does not hold, and
// `earlier` is as it was. `follow`: as when it was emulated. The module must outlive the kernel.
std::optional<Kernel> carried_over(Kernel& earlier, const ptx::Module& module,
                                   const ptx::Function& function,
                                   Follow follow = Follow::addresses);

} // namespace ptxasw::emulator
