// Entries for sequences of kernels that a program was seen to launch over and over (sequence.hpp).
#pragma once

#include "contract/sequences.hpp"
#include "passes/time_tile/sequence/sequence.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"

#include <span>
#include <string>

namespace ptxasw::passes {

struct MadeSequence {
  Why refused;      // nothing else is then valid
  std::string text; // of the entry, under the name that the contract says
  contract::Sequence contract;
};

// `module`: has the kernels, with ptxas' choice of fused products written down. `number`: of the
// entries that the first one has, whose names differ by it. `is_exact`: the entry has to become the
// same floating-point operations as the kernels do.
MadeSequence make_sequence_entry(const ptx::Module& module,
                                 std::span<emulator::Kernel* const> kernels,
                                 const contract::SeenSequence& seen, std::size_t number,
                                 bool is_exact, Assembler& assembler);

} // namespace ptxasw::passes
