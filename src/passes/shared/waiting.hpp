// Loops that may wait for other threads.
//
// A rewrite that runs the work of several blocks in one thread runs the block that is waited for
// later than the one that waits, so it must not be given a kernel that waits. Straight-line code
// cannot wait for another block: whatever it finds, it goes on. A loop can, if what it finds in one
// trip decides whether there is another one. So a loop is taken for one that waits if one of its
// exits, or of its ways back to its start, depends, by data or by control, on a value that it asks
// for again in each trip:
//
//   volatile, relaxed, acquire loads and loads whose line is not to stay in the first cache, of
//   any memory that other threads have; results of atomics
//   any load of memory that may change, if the loop also has a fence, an atomic or an ordered
//   access: then a plain load is done anew as well
//
// What has been stored under way comes back by every load. Everything in such a loop that is not
// asked for anew is fixed when it is entered, so the number of its trips is the same whatever other
// threads do, and the same holds for each loop around it. A plain load alone is no waiting: it may
// be done once for all trips, so nothing can rest on it.
//
// So spin locks, tickets, flags and decoupled look-back are loops that wait; a counter, a
// histogram, "the last block sums up", a loop that appends to a queue are not. A loop that repeats
// a compare-and-swap until it succeeds waits for nobody in particular, and is refused all the same.
#pragma once

#include "emulator/emulate.hpp"

namespace ptxasw::passes {

// Past the first cache (.cg, .L1::no_allocate, .cv), or for one use of it (.cs, .L1::evict_first,
// and .lu, which the ISA defines as .cs of global memory): the book promises such a load no more
// than another weak one, but what it finds next time is likely to be new, and old libraries wait
// with it.
[[nodiscard]] bool is_done_anew(const ptx::Inst& load);

// Empty, or a reason for people, with the line of what is waited with.
Why why_it_waits(const emulator::Kernel& kernel);

} // namespace ptxasw::passes
