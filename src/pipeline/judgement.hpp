// Do the rewritten kernels compute with the same floating-point operations? Read from what the
// assembler makes of them, whatever the rewrite was.
//
// At the level of PTX a rewrite leaves arithmetic alone. An assembler has freedom below it, so the
// machine code of the text that was rewritten and of what came of it are compared: each form of
// floating-point instruction (opcode, modifiers, literals) has to become the same operations of the
// machine, however often it was copied and wherever it stands:
//  - a sum or product that rounds by itself must not become a fused multiply-add;
//  - a function that ends up in the hardware's approximation must do so in both, or in neither;
//  - any other form may become only what it became before.
// Not compared: the order of operands, on which only the payload of a NaN depends.
#pragma once

#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::pipeline {

// Why each of `kernels` cannot be kept in its rewritten form; those that can are left out.
// `original`: what was rewritten. Two runs of the assembler, of these kernels alone. Kernels
// without floating-point arithmetic are not looked at; where there is no machine code that could be
// read, kernels with functions that the hardware approximates are refused, and others stand on the
// argument about PTX.
std::map<std::string, std::string> judge(const ptx::Module& original, const std::string& rewritten,
                                         const std::vector<std::string>& kernels,
                                         Assembler& assembler);

} // namespace ptxasw::pipeline
