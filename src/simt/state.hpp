// What a launch holds while it runs: blocks of warps, warps of fragments, fragments in frames.
//
// A fragment is a set of lanes of one warp that stand at the same place and move together. Lockstep
// execution arranges fragments in a tree: a divergent branch turns the fragment into a join that
// waits at the immediate post-dominator and gives birth to one child per way; a child that gets
// there gives its lanes back. The other schedules have no joins: their fragments split and merge
// freely.
#pragma once

#include "simt/code.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace ptxasw::simt {

// Registers of one activation of a function, for all lanes that are in it.
struct Frame {
  const Code* code = nullptr;
  std::vector<Row> rows;
  std::vector<std::uint32_t> undefined; // per row: lanes whose value is undefined
  std::vector<std::uint32_t> bits;      // per row of a predicate: lanes where it is true
  std::vector<std::array<std::uint32_t, warp_size>> iterations; // per loop of the code, per lane
  std::uint32_t caller = nowhere;                               // frame
  std::uint32_t call_pc = 0;                                    // of the call in the caller
  std::uint32_t live = 0;                                       // lanes inside
  std::uint64_t stack_base = 0; // offset of its variables in the local space
  std::uint32_t depth = 0;
};

struct Fragment {
  enum class State : std::uint8_t {
    free,
    ready,
    join,       // waits for its children
    warp_sync,  // waits for other lanes of the warp
    assembling, // at an aligned barrier that the rest of the warp has not reached
    barrier,    // waits for other threads of the block
  };
  State state = State::free;
  std::uint32_t pc = 0;
  std::uint32_t last_pc = 0; // of the instruction before
  std::uint32_t mask = 0;
  std::uint32_t frame = 0;
  std::uint32_t stop_pc = nowhere, stop_frame = nowhere; // where it gives its lanes to its parent
  std::uint32_t parent = nowhere;
  std::uint32_t children = 0; // of a join
};

// What a lane brings to an exchange between lanes, and what it takes home.
struct Letter {
  bool waiting = false, done = false;
  std::uint32_t key = 0, members = 0;
  std::uint64_t value = 0;
  std::uint32_t b = 0, c = 0;
  bool undefined = false;
  std::uint64_t result = 0;
  bool predicate = false, result_undefined = false;
};

// Bytes that cp.async has read and not yet written.
struct PendingCopy {
  unsigned lane = 0, bytes = 0;
  std::uint64_t group = 0; // of the lane, counted from its first one
  std::uint64_t to = 0;    // generic address in shared memory
  std::array<std::uint8_t, 16> data{}, defined{};
  const ptx::Inst* inst = nullptr;
};

struct Block;

struct Warp {
  Block* block = nullptr;
  std::uint32_t index = 0;    // in the block
  std::uint32_t existing = 0; // lanes that belong to the block
  std::uint32_t exited = 0;
  std::vector<Fragment> fragments;
  std::vector<Frame> frames;
  std::vector<std::uint32_t> free_frames;
  std::vector<Row> specials;
  std::array<Letter, warp_size> letters;
  // Local memory: `stack_capacity` bytes per lane.
  std::vector<std::uint8_t> stack, stack_defined;
  std::uint64_t stack_capacity = 0;
  std::vector<PendingCopy> copies;
  std::array<std::uint64_t, warp_size> copy_groups{}; // of each lane: those it has committed
  std::uint32_t turn = 0;                             // fragment that ran last
  std::uint32_t epoch = 0;                            // exchanges between lanes so far

  [[nodiscard]] std::uint32_t alive() const { return existing & ~exited; }
};

struct Barrier {
  std::uint32_t expected = 0; // threads; 0: all of the block
  bool in_use = false;
  std::vector<std::uint32_t> arrived;             // lanes, per warp
  std::uint32_t predicate_count = 0, threads = 0; // of .red
};

struct Block {
  Dim3 index;
  std::uint64_t linear = 0;
  std::vector<Warp> warps;
  std::vector<std::uint8_t> shared, shared_defined;
  std::array<Barrier, 16> barriers;
  bool active = false;
  std::uint32_t epoch = 0; // barriers passed so far
};

// Calls visit(lane) for the lanes of a mask, lowest first.
template <class Visit> void for_lanes(std::uint32_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1)
    visit(static_cast<unsigned>(std::countr_zero(mask)));
}
constexpr unsigned lowest(std::uint32_t mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

} // namespace ptxasw::simt
