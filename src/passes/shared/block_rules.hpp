// Which kernels may be coarsened: one rule for each way in which a kernel could wait for, observe
// or disturb another block, or in which copies could not share one flow of control.
#pragma once

#include "analysis/replica_divergence.hpp"
#include "emulator/emulate.hpp"
#include "ptxasw/reason.hpp"

#include <string>
#include <string_view>

namespace ptxasw::passes {

// Rules that do not depend on the axis. Empty, or a reason for people.
Why why_not_coarsened(const emulator::Kernel& kernel);

// Rules for all rewrites that let blocks or threads do each other's work. Empty, or a reason.
Why why_not_a_plain_kernel(const emulator::Kernel& kernel);

// Rules about one instruction, for all rewrites that let a thread do another's work: it may wait
// for, observe or disturb other threads. Empty, or a reason.
Why why_threads_synchronize(const ptx::Body& body, const ptx::Inst& inst);
// The part of these rules that is about what the instruction sees of the machine.
Why why_it_observes(const ptx::Body& body, const ptx::Inst& inst);
// Debug information and the module's other ties to the kernel's text. Empty, or a reason.
Why why_not_a_plain_text(const emulator::Kernel& kernel);
// Of the threads of a block: all of them, or as many as it says.
bool is_block_barrier(const ptx::Inst& inst);
// Copies have one frame.
bool uses_local_memory(const ptx::Inst& inst);
inline constexpr std::string_view copies_share_a_frame =
    "replicas would share the thread's local memory";
// "atom at line 7: blocks can ..."
Why at_line(const ptx::Body& body, const ptx::Inst& inst, Reason reason, std::string_view why);
std::string at_line(const ptx::Body& body, const ptx::Inst& inst, std::string_view why);

// The branch may go different ways in different copies, so the copies have to agree at run time.
bool needs_agreement(const emulator::Kernel& kernel,
                     const analysis::ReplicaDivergence& replica_divergence, const ptx::Inst& inst);

// Rules about what differs between the copies.
Why why_replicas_diverge(const emulator::Kernel& kernel,
                         const analysis::ReplicaDivergence& replica_divergence);
// Sound, but it hangs on loaded data whether all copies go one way: as a rule they part, and then
// they run one after another, having done the work ahead of the branch in vain. Empty, or a reason.
// `data`: analysis::is_data_dependent of the body.
Why why_data_diverges_replicas(const emulator::Kernel& kernel,
                               const analysis::ReplicaDivergence& replica_divergence,
                               const analysis::ReplicaDivergence& data);
// Sound, too, but the blocks do not do equally much: how often a loop is run hangs on loaded data,
// or differs between the copies. Merged blocks are fewer, and the chip waits for the longest (rows
// of sparse matrices of unequal length 0.96, triangles 0.91, the Mandelbrot set 0.84 of the speed,
// predicted at up to 2.6). Empty, or a reason.
Why why_work_is_uneven(const emulator::Kernel& kernel,
                       const analysis::ReplicaDivergence& replica_divergence,
                       const analysis::ReplicaDivergence& data);

// Nothing that other threads could see happens before `inst`, on any path to it: from here the
// copies may still be started over, one after another.
bool can_start_over(const emulator::Kernel& kernel, ptx::InstId inst);

} // namespace ptxasw::passes
