// The closed forms; CACHE.md has the derivations.
#include "cachesim/columns.hpp"

#include <algorithm>

namespace ptxasw::cachesim {
namespace {

constexpr std::uint64_t parts(std::uint64_t whole, std::uint64_t part) {
  return (whole + part - 1) / part;
}

template <class Plane>
std::uint64_t best_of(const Plane& plane, const CacheShape& cache, std::uint64_t step) {
  if (step == 0) step = cache.width();
  std::uint64_t best = plane.columns, fewest = estimate(plane, cache, best).lines;
  // From the widest: an equal number of lines does not replace what is there.
  for (std::uint64_t width = (plane.columns - 1) / step * step; width != 0; width -= step) {
    const std::uint64_t lines = estimate(plane, cache, width).lines;
    if (lines < fewest) {
      fewest = lines;
      best = width;
    }
  }
  return best;
}

} // namespace

ColumnEstimate estimate(const StencilPlane& plane, const CacheShape& cache, std::uint64_t width) {
  const std::uint64_t w = cache.width(), across = plane.across, down = plane.down;
  const std::uint64_t threads = plane.columns * plane.rows;
  const bool naive = width >= plane.columns;
  ColumnEstimate result;
  // The rows that the next row reads again and the one that it adds. In a column each has a halo on
  // both sides; in the naive order the halo of a row is the end of one next to it.
  result.required =
      naive ? parts(down * plane.columns, w) + 1 : parts((across + width) * (down + 1), w);
  result.fits = result.required <= cache.lines;
  // A row of elements begins anywhere in its first line.
  const std::uint64_t row = parts(across + width - 1, w) + 1;
  if (result.fits && naive)
    result.lines = parts(plane.columns * (plane.rows + down - 1) + across - 1, w) + 1;
  else if (result.fits)
    result.lines = (down + plane.rows) * row * parts(plane.columns, width);
  else if (cache.lines < (parts(across, w) + 1) * down) // not even a thread's neighbourhood
    result.lines = threads * down * (parts(across - 1, w) + 1);
  else if (naive) // one row of elements runs into the next one
    result.lines = down * (parts(threads, w) + parts(across, w));
  else
    result.lines = down * plane.rows * row * parts(plane.columns, width);
  return result;
}

ColumnEstimate estimate(const ProductPlane& plane, const CacheShape& cache, std::uint64_t width) {
  const std::uint64_t w = cache.width();
  width = std::min(width, plane.columns);
  const std::uint64_t left = parts(plane.depth, w); // a row of the first matrix
  const std::uint64_t columns = parts(plane.columns, width);
  const std::uint64_t last = plane.columns - (columns - 1) * width; // the last column's width
  // Of the second matrix, over all columns.
  const std::uint64_t right = plane.depth * ((columns - 1) * parts(width, w) + parts(last, w));
  ColumnEstimate result;
  // All of the second matrix' column, the row at hand, and the next one while that begins.
  result.required = plane.depth * parts(width, w) + 2 * left;
  result.fits = result.required <= cache.lines;
  result.lines = columns * plane.rows * left + (result.fits ? right : plane.rows * right);
  return result;
}

std::uint64_t best_width(const StencilPlane& plane, const CacheShape& cache, std::uint64_t step) {
  return best_of(plane, cache, step);
}
std::uint64_t best_width(const ProductPlane& plane, const CacheShape& cache, std::uint64_t step) {
  return best_of(plane, cache, step);
}

namespace {

// A load and how its address changes from a thread to the next one along x and along y.
struct Reference {
  std::int64_t address = 0, per_x = 0, per_y = 0;
};

std::vector<Touch> loads_of(const std::vector<Touch>& touches) {
  std::vector<Touch> loads;
  std::ranges::copy_if(touches, std::back_inserter(loads),
                       [](const Touch& touch) { return !touch.store; });
  return loads;
}

std::vector<Reference> references(const Stream& stream, std::size_t thread, std::size_t columns) {
  const auto here = loads_of(stream[thread]), right = loads_of(stream[thread + 1]),
             below = loads_of(stream[thread + columns]);
  std::vector<Reference> found;
  if (here.size() != right.size() || here.size() != below.size()) return found;
  const auto signed_of = [](const Touch& touch) {
    return static_cast<std::int64_t>(touch.address);
  };
  for (std::size_t i = 0; i < here.size(); ++i) {
    const std::int64_t at = signed_of(here[i]);
    found.push_back({at, signed_of(right[i]) - at, signed_of(below[i]) - at});
  }
  return found;
}

std::optional<StencilPlane> as_stencil(std::span<const Reference> loads, StencilPlane plane,
                                       std::int64_t element) {
  const std::int64_t pitch = static_cast<std::int64_t>(plane.columns) * element;
  std::int64_t left = 0, right = 0, top = 0, bottom = 0; // elements from the first load
  for (const Reference& load : loads) {
    if (load.per_x != element || load.per_y != pitch) return std::nullopt;
    const std::int64_t distance = load.address - loads.front().address;
    if (distance % element != 0) return std::nullopt;
    // The nearest row is the one that is meant.
    const std::int64_t half = pitch / 2;
    const std::int64_t y = (distance >= 0 ? distance + half : distance - half) / pitch;
    const std::int64_t x = (distance - y * pitch) / element;
    left = std::min(left, x), right = std::max(right, x);
    top = std::min(top, y), bottom = std::max(bottom, y);
  }
  plane.across = static_cast<std::uint64_t>(right - left + 1);
  plane.down = static_cast<std::uint64_t>(bottom - top + 1);
  const bool another_array = plane.down > plane.rows || plane.across > plane.columns;
  if (another_array) return std::nullopt;
  return plane;
}

std::optional<ProductPlane> as_product(std::span<const Reference> loads, ProductPlane plane,
                                       std::int64_t element) {
  std::vector<std::int64_t> left, right;
  for (const Reference& load : loads) {
    if (load.per_x == 0 && load.per_y != 0)
      left.push_back(load.address);
    else if (load.per_x == element && load.per_y == 0)
      right.push_back(load.address);
    else
      return std::nullopt;
  }
  std::ranges::sort(left);
  std::ranges::sort(right);
  if (left.size() != right.size() || left.size() < 2) return std::nullopt;
  const auto depth = static_cast<std::int64_t>(left.size());
  if (left.back() - left.front() != (depth - 1) * element) return std::nullopt;
  if (right[1] - right[0] < static_cast<std::int64_t>(plane.columns) * element) return std::nullopt;
  plane.depth = left.size();
  return plane;
}

} // namespace

RecognisedPlane recognise(const Stream& stream, const Threads& threads, const CacheShape& cache) {
  RecognisedPlane result;
  const bool along_x = threads.grid[1] * threads.grid[2] * threads.block[1] * threads.block[2] == 1;
  const bool single = threads.threads_per_block() == 1 && threads.grid[2] == 1;
  if (!along_x && !single) return result;
  const std::size_t columns = along_x ? threads.row_length() : threads.grid[0];
  const std::size_t rows = along_x ? threads.count() / columns : threads.grid[1];
  if (columns < 3 || rows < 3 || stream.size() < columns * rows) return result;
  const auto loads = references(stream, rows / 2 * columns + columns / 2, columns);
  if (loads.empty()) return result;
  const std::int64_t element = cache.element_bytes;
  result.stencil = as_stencil(loads, {.columns = columns, .rows = rows}, element);
  result.product = as_product(loads, {.columns = columns, .rows = rows}, element);
  return result;
}

} // namespace ptxasw::cachesim
