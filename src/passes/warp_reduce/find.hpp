// Rounds of a block that stay within a warp: the last levels of a tree in shared memory.
//
// A round is the code between two barriers. In a tree,
//
//     for (w = n / 2; w > 0; w /= 2) { if (t < w) s[t] += s[t + w]; barrier; }
//
// what a round reads in D = s[t + w] is what an earlier round has stored in S = s[t], by the thread
// w further on: S(t + w) = D(t), the question of every axis. While w is at most 16, both threads
// are of the first warp, so the value can come from the register of the other lane, by shfl.sync,
// and the barriers between such rounds, which no other warp has any part in, are not needed. Nor is
// the one behind the round of width 32, whose work is the first warp's, too.
//
// A tree that begins with neighbours, `if (t % (2 * w) == 0) s[t] += s[t + w]` for w = 1, 2, 4,
// ..., has its first levels within warps instead, in all of them, and so has one for each 32
// threads. The plan is a stretch of consecutive instructions: a loop whose width is a register that
// never grows (`rolled`) or doubles (`grows`), or the levels of an unrolled tree within a warp. It
// holds for a width w in `begin` of at most 32 (what is emitted asks for 32, 16 or 1) and blocks
// of one row of whole warps, which is asked at run time where it is not known. Each element s[t] is
// a Cell that lives in a register of lane t, from its load in front to its store behind the
// stretch. Where each row of threads has a tree of its own, whose base hangs on %tid.y, rows have
// to be warps: that is asked instead. Conditions, and where each is checked:
//   nothing but plain functions (no products that could be fused with sums of
//   another round), branches to places inside or to the end,
//   whole barriers and accesses to cells stands in the stretch                   contents
//   all threads of the block come to the stretch, and to its barriers            is_common
//   what is called on the way ends none of them                                  calls_return
//   a barrier comes ahead of it, and in between no store, and of shared memory
//   no load but of the thread's own element                         follows_barrier, reads_ahead
//   cells lie apart, one element for each thread                   TreeElements: find_cells, apart
//   those of two rows lie apart, too                                         add_cell, lies_apart
//   each access is to the thread's own element or one of w, proven as terms,
//   which where only thread 0 comes are those of thread 0                             place
//   who gets to an access has t + distance < 2w, and t < w at a store;
//   where all warps have rounds, t % 32 + distance < 32                          stays_inside
//   every thread with t < w gets to the first round's accesses, so that the
//   elements that are loaded in front and stored behind are those that are
//   accessed anyway; or all these lie in a variable whose size is known          covers_all
//   w does not grow from round to round, or it doubles                           shrinks, doubles
// The barrier that remains goes, too, where behind the stretch each thread reads nothing of shared
// memory but its own element, and no other barrier, store or call can be reached (reads_own_only),
// and where no global memory is read between the barrier ahead and the stretch (global_ahead)
#pragma once

#include "emulator/emulate.hpp"
#include "symbolic/solver.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ptxasw::passes {

// s[t], by the store that names it.
struct Cell {
  std::size_t event = 0; // its address is the thread's own element
  unsigned bytes = 4;
  bool stored = true;
};

struct TreeAccess {
  std::size_t event = 0;
  std::size_t cell = 0;
  // Whose element: t + `distance`, or t + the register.
  unsigned distance = 0;
  ptx::RegId by = ptx::none;
  [[nodiscard]] bool own() const { return distance == 0 && by == ptx::none; }
};

struct TreeReduction {
  ptx::InstId begin = 0, end = 0; // the stretch
  bool rolled = false;            // a loop, entered at `begin` only
  bool rows = false;              // each row of threads has a tree of its own: a warp each
  bool barrier_first = false;     // of a rolled stretch: its barrier stands ahead of the accesses
  // The first round is of width 32. What it reads of others is in memory and stays there: nobody
  // stores the elements from 32 on in any of the rounds.
  bool wide = false;
  // Every warp has rounds of its own, and all threads an element; else the first warp alone.
  bool everywhere = false;
  bool grows = false;        // of a rolled stretch: the width is 1, 2, 4, 8, 16
  unsigned most_threads = 0; // of a block that has so many elements at most; 0: any
  // The threads below it store something in the first round: a register as it is at `begin`, or
  // a number.
  ptx::RegId width_register = ptx::none;
  unsigned width = 0;
  std::vector<Cell> cells;
  std::vector<TreeAccess> accesses; // in program order
  std::vector<ptx::InstId> barriers;
  [[nodiscard]] unsigned first_width() const;
  // So many lanes have an element at the beginning, where not all threads have one.
  [[nodiscard]] unsigned lanes() const { return 2 * std::min(first_width(), 16U); }
  bool others_may_skip = false; // nothing that other warps compute in it is used behind it
  // Between the barrier ahead of the stretch and the stretch global memory is read: whoever writes
  // it behind has waited for that at the barriers that go.
  bool global_ahead = false;
  // Behind the stretch a thread reads its own element at most: it need not wait for others.
  bool own_behind = false;
  // And what it reads is still in its register: these loads of elements below twice the width. Then
  // the rest of the kernel may be copied, too, and need not wait for memory.
  bool rest_copied = false;
  std::vector<TreeAccess> rest;
  // The operation that makes of all elements what thread 0 reads behind the stretch, where that is
  // all that the rounds from width 16 on are for (tree_as_one.hpp), and where these begin.
  ptx::InstId combined = ptx::none, combined_from = 0;
  std::vector<ptx::InstId> kept; // of these rounds, by what is read behind
};

struct TreeReductionPlan {
  std::vector<TreeReduction> stretches;
  Why refused; // of the first that looked like one; empty: none did
};

inline constexpr unsigned widest_step = 16;

inline unsigned TreeReduction::first_width() const {
  return grows ? 1 : wide ? 2 * widest_step : rolled ? widest_step : width;
}

TreeReductionPlan find_tree_reductions(emulator::Kernel& kernel, sym::Solver& solver);

// Blocks of a known shape are one row of whole warps, or rows of one warp each; of an unknown one
// (zeros), that is asked at run time.
[[nodiscard]] constexpr bool fits(const TreeReduction& rounds,
                                  const std::array<std::uint32_t, 3>& block) {
  if (block[0] == 0) return true;
  if (rounds.most_threads != 0 && block[0] > rounds.most_threads) return false;
  if (rounds.rows) return block[0] == 32 && block[2] == 1;
  return block[0] % 32 == 0 && block[1] == 1 && block[2] == 1;
}

} // namespace ptxasw::passes
