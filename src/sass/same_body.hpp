// Has an assembler left a kernel's body as it was, where the kernel is larger now?
//
// A coarsened kernel asks how large its launch is, and launches that are too small run the body of
// the original, which stands in the same function as the merged form. ptxas schedules a function as
// a whole: beside the merged form it may make another program of the same body, and then every
// launch that is not merged pays for it (a loop that waits for its loads in turn: 0.29 of the
// speed). So the machine code is compared:
//
//  - The larger kernel begins with a question, which ends in its first branch; the body stands at
//    one of its two ends.
//  - Up to the first branch of the original, the same has to be done, in front of the question or
//    behind it, in any order: that is where the question's own instructions come between.
//  - From there on, along every path, each instruction is the original's: its opcode, modifiers,
//    immediates, constants, and what it tells the scheduler: stall count, yield, reuse, which
//    barriers it raises and waits for, by whatever number. Only registers may be others. Branches
//    lead to places that correspond.
//  - A constant may have been read in front already, as ptxas does with the descriptor of global
//    memory; its stall may then be another instruction's. So stalls are compared by their sum where
//    paths part, and nowhere may the sum be larger.
//
// Nothing but speed may hang on the answer.
#pragma once

#include "sass/instruction.hpp"

#include <span>
#include <string>

namespace ptxasw::sass {

// Why the body is not what it was, in words; empty: it is.
std::string why_not_same_body(std::span<const Instruction> original,
                              std::span<const Instruction> larger);

} // namespace ptxasw::sass
