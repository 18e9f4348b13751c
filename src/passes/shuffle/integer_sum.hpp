// Sums of integers within bounds, for bytes that must not meet.
//
// An address of shared memory is a sum: so many bytes for each step along %tid.x, so many for each
// row. How far two accesses lie apart is one, too, of the differences of their threads; the
// question is whether it can be so small that their bytes meet.
#pragma once

#include <cstdint>
#include <vector>

namespace ptxasw::passes {

struct Interval {
  std::int64_t low = 0, high = 0; // both in it; none if low > high
};

// coefficient * v, for some integer v within bounds.
struct Summand {
  std::int64_t coefficient = 0;
  Interval bounds;
  // v is the difference of two threads along an axis, or of their numbers in the block.
  bool of_threads = false;
};

struct IntegerSum {
  std::int64_t constant = 0;
  std::vector<Summand> summands;
  // Where all differences of threads are 0, it is one thread. Then such sums are not asked for.
  bool tells_threads = false;
};

// Can the sum be one of `wanted`, for two threads? True where that is too much work to tell, or
// where the sum may leave 31 bits, so that addresses could wrap.
bool may_be(IntegerSum sum, Interval wanted);

} // namespace ptxasw::passes
