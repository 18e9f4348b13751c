// Whether a kernel knows its row, and not which block and which thread of it that is: then copies
// may be cut by rows (passes/coarsen/find/block.hpp).
#pragma once

#include "emulator/emulate.hpp"

namespace ptxasw::passes {

// %ctaid and %tid of the axis (0: x) are used only as %ctaid*%ntid + %tid, modulo 2^32.
bool uses_rows_only(emulator::Kernel& kernel, unsigned axis);

} // namespace ptxasw::passes
