// How large a kernel takes its data to be: what its threads' places are compared with before they
// do anything, as in `if (x >= width || y >= height) return;`.
//
// A launch has as many threads as there are places, or little more, so these values, which the
// kernel has in registers already, tell as much as %nctaid and %ntid, which take time to read
// (guard.hpp). They are a guess, and nothing but speed may hang on it. It is made only where a
// thread's place is its index in the launch, to a constant: a launch of a part of the places would
// need an argument that says which.
#pragma once

#include "ptx/body.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace ptxasw::rewrite {

struct Extent {
  ptx::RegId bound = ptx::none;     // the same for all threads of a launch
  bool is_wide = false;             // 64 bits instead of 32
  unsigned blocks = 0, threads = 0; // bits: axes of the indices that are compared with it
  std::uint64_t each = 1;           // places from one thread to the next one
  unsigned shift = 0;               // so many low bits say nothing: too few blocks along an axis
};

// The product of `bound >> shift` is about the number of threads times `each` of all, shifted
// alike. They are set by what stands ahead of `exit`, a guarded jump or return; none if they do not
// tell the number of threads. Blocks become one by `factors` along the axes.
std::vector<Extent> extents(const ptx::Body& body, ptx::InstId exit,
                            const std::array<unsigned, 3>& factors);

// What the product comes to in launches of so many threads.
std::uint64_t product_of_threads(const std::vector<Extent>& extents, std::uint64_t threads);

// Of the blocks, how many have anything to do, about: half of them if threads compare their places
// along two axes, as in `if (x < y) return;`. A guess, too.
double share_at_work(const ptx::Body& body);

} // namespace ptxasw::rewrite
