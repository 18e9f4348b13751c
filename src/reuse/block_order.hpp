// In which order the lockstep form runs the instructions of the copies.
//
// Within a segment, a stretch of straight-line code that writes no memory, the copies may come one
// after another: the temporaries of one are dead before the next begins, and only loaded values
// that several need stay in registers. Elsewhere they go instruction by instruction.
#pragma once

#include "emulator/emulate.hpp"

#include <cstdint>
#include <vector>

namespace ptxasw::reuse {

enum class CopyOrder : std::uint8_t {
  instructions, // instruction by instruction, each in all copies
  copies,       // copy by copy within a segment
};

// The segment of each instruction; the numbers grow with the program.
std::vector<std::uint32_t> segments(const emulator::Kernel& kernel, CopyOrder order);

} // namespace ptxasw::reuse
