// Which remap a kernel's accesses speak for, if any. Measured on an H200
// (bench/results/remap/results.md); where nothing was seen to gain, nothing is proposed, and blocks
// as a whole are left where they are.
//
//   thread-swap     lanes that walk the slow dimension would walk the fast one: all accesses
//   together
//                   would touch far fewer sectors
//   linear-column   a loop whose trips read along a row and down a column, as a matrix product
//   does:
//                   a block that is a few rows high reads each column once for all its rows
#pragma once

#include "emulator/emulate.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"
#include "target/profile.hpp"

#include <string>

namespace ptxasw::passes {

struct RemapProposal {
  Remap remap; // of kind none: nothing is proposed
  // Bytes between lanes where that is known at run time only: what was counted on is true from a
  // sector upwards.
  sym::Term lane_stride;
  std::string why; // or why not, if there is anything to say
  Reason against = Reason::none;
};

// Whether the kernel is eligible is for the caller to ask.
RemapProposal propose_thread_swap(emulator::Kernel& kernel);
// `threads` a block, if known; else 0.
RemapProposal propose_linear_column(emulator::Kernel& kernel, const target::Profile& profile,
                                    unsigned threads);

} // namespace ptxasw::passes
