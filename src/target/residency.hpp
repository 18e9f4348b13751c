// How many blocks of a kernel an SM holds at a time, as far as registers and the shared memory that
// it declares decide it.
//
// A cooperative launch of more blocks than fit on all SMs together fails, and programs launch grids
// of just as many as fit. Nothing in a kernel proves that it is not launched so: a rewrite that
// costs either may only be kept if no block size has fewer resident blocks than before.
#pragma once

#include "ptxasw/assembler.hpp"
#include "ptxasw/coarsening.hpp"
#include "target/profile.hpp"

namespace ptxasw::target {

// With no more registers a thread than these, registers are never what limits the blocks of an SM.
inline constexpr unsigned registers_for_all_blocks = 32;

// A register file of 4 x 16384, handed out to warps in units of 256 (8 a thread), for at most 2048
// threads and 32 blocks: SMs from Volta on, of which some hold fewer threads, which can only hide a
// difference (CUDA's cuda_occupancy.h).
unsigned resident_blocks(unsigned registers, unsigned threads);

// Registers of a thread as they are handed out.
unsigned allocated_registers(unsigned registers);

// Warps of such blocks that an SM of the chip holds at a time; of one block at least.
unsigned resident_warps(const Profile& profile, unsigned registers, unsigned threads);

// What a block takes of an SM.
struct Taken {
  unsigned registers = 0; // of a thread
  unsigned shared = 0;    // bytes
};

// The smallest block, of the sizes that are possible, of which fewer are resident afterwards, on an
// SM with so much shared memory; 0: none. If how much it has is not known (0), more takes room from
// blocks of any size.
unsigned block_that_loses(const Taken& before, const Taken& after, const BlockSizes& sizes,
                          unsigned shared_per_sm);

// The smallest block, of the sizes that are possible, of which fewer are resident with `after`
// registers than with `before`; 0: none.
unsigned block_that_loses(unsigned before, unsigned after, const BlockSizes& sizes);

// The smallest block, of the sizes that are possible, that can be launched with `before` registers
// and not with `after`; 0: none. There is none where no block loses.
unsigned block_that_fails(unsigned before, unsigned after, const BlockSizes& sizes);

// The most registers with which none loses.
unsigned registers_that_keep_blocks(unsigned before, const BlockSizes& sizes);

// A larger stack, or more bytes spilled.
bool needs_more_memory(const Usage& after, const Usage& before);

} // namespace ptxasw::target
