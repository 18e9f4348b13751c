// Column-based iteration in closed form: how many lines a cache fetches when the elements of a
// plane are computed row by row (naive) or column by column of a given width, how much cache that
// needs, and which width is best. For the two kinds of kernels that gain by it: stencils and matrix
// products. CACHE.md derives the formulas and sets them beside the simulator.
#pragma once

#include "cachesim/order.hpp"
#include "cachesim/stream.hpp"

#include <optional>

namespace ptxasw::cachesim {

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

} // namespace ptxasw::cachesim
