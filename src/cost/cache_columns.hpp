// Column-based iteration in closed form: how many lines a cache fetches when the elements of a
// plane are computed row by row (naive) or column by column of a given width, how much cache that
// needs, and which width is best. For the two kinds of kernels that gain by it: stencils and matrix
// products. CACHE.md derives the formulas and sets them beside the simulator.
#pragma once

#include "cost/cache_order.hpp"
#include "cost/cache_stream.hpp"
#include "cost/profile.hpp"
#include "ptxasw/reason.hpp"

namespace ptxasw::cost {

// Elements of `columns` x `rows`, each read in a neighbourhood of `across` x `down` around it.
struct StencilPlane {
  std::uint64_t columns = 0, rows = 0;
  std::uint64_t across = 1, down = 1;
  friend bool operator==(const StencilPlane&, const StencilPlane&) = default;
};

// Elements of `columns` x `rows`, each the product of a row of one matrix, `depth` long, and a
// column of another one; both matrices lie row by row.
struct ProductPlane {
  std::uint64_t columns = 0, rows = 0, depth = 0;
  friend bool operator==(const ProductPlane&, const ProductPlane&) = default;
};

struct ColumnEstimate {
  std::uint64_t lines = 0;    // fetched
  std::uint64_t required = 0; // lines of cache that the reuse counted on needs
  bool fits = false;          // they are there; if not, `lines` counts on no reuse between rows
  friend bool operator==(const ColumnEstimate&, const ColumnEstimate&) = default;
};

// Column width `width`; one that is no less than the plane's is the naive order.
ColumnEstimate estimate(const StencilPlane& plane, const CacheShape& cache, std::uint64_t width);
ColumnEstimate estimate(const ProductPlane& plane, const CacheShape& cache, std::uint64_t width);

// The multiple of `step` (0: the elements of a line) that fetches least by these formulas, the
// widest among equals; the plane's width where no column is better.
std::uint64_t best_width(const StencilPlane& plane, const CacheShape& cache,
                         std::uint64_t step = 0);
std::uint64_t best_width(const ProductPlane& plane, const CacheShape& cache,
                         std::uint64_t step = 0);

// What the loads of a launch look like, judged by a thread in the middle of the plane and its
// neighbours to the right and below. Clamped borders do not matter to it. Only for launches along x
// alone, or with blocks of one thread, where a thread's number is x + y * columns.
struct RecognisedPlane {
  std::optional<StencilPlane> stencil;
  std::optional<ProductPlane> product;
};
RecognisedPlane recognise(const Stream& stream, const Threads& threads, const CacheShape& cache);

// ---- Without a launch: should a kernel with x = e % width and y = e / width, e a linear index,
// walk its elements in columns?

// One load of such a kernel's innermost loop. Elements beside each other along x lie so in memory.
struct LinearLoad {
  bool follows_x = false, follows_y = false; // its address depends on x, on y
  bool shares_line = false; // an earlier one is a few bytes away: no new line comes for it
  unsigned bytes = 4;
};

struct ColumnProposal {
  unsigned width = 0;            // of linear-column; 0: stay as it is
  double fetch_ratio = 1;        // lines brought into L1, columns against naive
  double speed = 1;              // predicted by the busier of L1 and the path to L2
  std::string reason;            // for people
  Reason against = Reason::none; // where nothing is proposed
};

// Conservative: the planes are taken as too large for L1 to hold rows, a block as `threads` threads
// (0: not known) in step and alone on its multiprocessor, and a small gain is none. On an H200
// products of 1024 to 4096 in blocks of 128 to 1024 threads ran 1.01 to 1.34 times as fast in
// columns of 64, 0.97 to 1.33 in columns of 32 (bench/results/remap/results.md).
ColumnProposal propose_columns(const Profile& profile, std::span<const LinearLoad> loads,
                               unsigned threads = 0);

} // namespace ptxasw::cost
