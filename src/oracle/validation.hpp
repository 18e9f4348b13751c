// Do the rewritten kernels compute with the same floating-point operations? Read from what the
// assembler makes of them, whatever the rewrite was.
//
// At the level of PTX a rewrite leaves arithmetic alone. An assembler has freedom below it, so the
// machine code of the text that was rewritten and of what came of it are compared, line by line:
// of each copy of an instruction it is known whose copy it is (passes/shared/apply.hpp), and every
// copy has to become what the original became:
//  - a sum or product that rounds by itself becomes no fused multiply-add, unless the original is
//    one of the same operands, made by arithmetic of the same lines;
//  - what an approximate function becomes is the same in each copy: folded in all, or in none, and
//    in a chain of functions of operands that were made by arithmetic of the same lines;
//  - a product that is scaled by a power of two in the same operation is so in each copy, and of
//  the
//    same operands;
//  - any other form (a division) may become only what it became before, wherever it stands;
//  - arithmetic that is a copy of none, as a rewrite's own checks, leaves nothing to choose.
// ptxas computes equal values once; so copies that have one value are taken together. A copy that
// is gone in any other way cannot be told from one that was folded, and refuses.
// Not compared: the order of operands, on which only the payload of a NaN depends; and halves, of
// which ptxas packs two into one instruction of one line, are compared by form.
#pragma once

#include "passes/shared/apply.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"
#include "ptxasw/reason.hpp"

#include <map>
#include <string>
#include <vector>

namespace ptxasw::oracle {

// Those of `kernels` about which the assembler has anything to say: as they were or as they are, an
// operation on floating-point numbers may become this or that. Where none may, the argument about
// PTX is all there is.
std::vector<std::string> kernels_with_choice(const ptx::Module& original,
                                             const passes::Rewritten& rewritten,
                                             const std::vector<std::string>& kernels);

// Why each of `kernels` cannot be kept in its rewritten form; those that can are left out.
// `original`: what was rewritten, and `rewritten` came of it. Two runs of the assembler, of these
// kernels alone. Kernels without floating-point arithmetic are not looked at; where there is no
// machine code that could be read, kernels with functions that the hardware approximates or
// products that may be scaled are refused, and others stand on the argument about PTX.
std::map<std::string, Why> validate(const ptx::Module& original, const passes::Rewritten& rewritten,
                                    const std::vector<std::string>& kernels, Assembler& assembler);

// The same of a module that was written anew: nobody knows whose copy an instruction is, so each is
// held against all of its form, without operands.
std::map<std::string, Why> validate(const ptx::Module& original, const ptx::Module& rewritten,
                                    const std::vector<std::string>& kernels, Assembler& assembler);

// Why a kernel that was written anew cannot be kept in the place of several, each of whose
// instructions it has copies of. Empty: it can.
Why validate_together(const ptx::Module& original, const std::vector<std::string>& kernels,
                      const ptx::Module& rewritten, const std::string& kernel,
                      Assembler& assembler);

} // namespace ptxasw::oracle
