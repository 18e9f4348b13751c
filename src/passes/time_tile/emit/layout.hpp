// The region of a block that does T steps: which axes it spans, what its threads own, and how its
// tiles lie in shared memory. For steps.cpp.
#pragma once

#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/step/step.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::passes {

// Places on either side of a centre, or of a tile.
struct Margin {
  unsigned before = 0, behind = 0;
  [[nodiscard]] unsigned both() const { return before + behind; }
};

// Along `u` neighbouring elements lie and the threads of a row run, along `v` each thread has a
// strip (3: there are none). What is left is as in the kernel: a block has one place of it.
struct StepAxes {
  unsigned u = 0, v = 3;
};

// An axis along which elements are neighbours, or fields of neighbouring structures; the one with
// the shortest stride.
std::optional<unsigned> axis_of_neighbours(const StepPlan& plan);

class StepLayout {
public:
  // `shared`: by array, which tile it has; none: each its own.
  StepLayout(const StepPlan& plan, const StepShape& shape, std::vector<unsigned> shared = {});

  Why refused; // why there is none; nothing else is then valid
  StepAxes axes;
  // Beside the region: what a step reads, or is read by. Along u in threads.
  Margin pad_u, pad_v;
  // Of the region: what all steps read beside the centre. Along u in whole threads.
  Margin halo_u, halo_v;
  unsigned pitch = 0, tile_places = 0, tile_bytes = 0;
  std::vector<unsigned> tiles; // by array: where its tile begins
  bool two_tiles = false;      // steps write one and the other in turn
  bool compact = false;        // tiles have only those rows of a strip that other strips read

  [[nodiscard]] bool has_strips() const { return axes.v < 3; }
  [[nodiscard]] unsigned columns() const { return shape_.columns; }
  [[nodiscard]] unsigned rows() const { return has_strips() ? shape_.rows : 1; }
  [[nodiscard]] unsigned places() const { return columns() * rows(); }       // of a thread
  [[nodiscard]] unsigned across() const { return shape_.width / columns(); } // threads of a row
  // From an element to the next one along u, in bytes.
  [[nodiscard]] unsigned spacing(const StepArray& array) const;
  // Elements that one access to global memory may have.
  [[nodiscard]] unsigned vector(const StepArray& array) const {
    return spacing(array) == array.bytes ? std::min({columns(), 4U, 16 / array.bytes}) : 1;
  }
  [[nodiscard]] unsigned height() const { return has_strips() ? shape_.strips * rows() : 1; }
  [[nodiscard]] unsigned block() const { return across() * (has_strips() ? shape_.strips : 1); }
  [[nodiscard]] unsigned centre(unsigned axis) const;
  // Whose place a column of the region is, in threads beside the one that it is counted from, and
  // which of that thread's columns.
  struct Owner {
    int thread = 0, column = 0;
  };
  [[nodiscard]] Owner owner_of(int column) const;
  // Where a place lies in a tile, in places behind a thread's first one. Each column of the threads
  // has a plane of its own: the lanes of a warp access neighbouring words.
  [[nodiscard]] int in_tile(int column, int row) const;
  [[nodiscard]] unsigned strip_rows() const { return compact ? read_rows_.both() : rows(); }
  [[nodiscard]] unsigned shared() const { return two_tiles ? 2 * tile_bytes : tile_bytes; }

private:
  void refuse(std::string_view why, Reason reason = Reason::step_region) {
    if (!why.empty()) refused = {reason, std::string(why)};
  }
  void choose_axes();
  void choose_rows();
  [[nodiscard]] unsigned tile_rows() const {
    return (has_strips() ? shape_.strips * strip_rows() : 1) + pad_v.both();
  }
  void place_tiles();
  [[nodiscard]] Margin reach(unsigned axis, unsigned steps) const;
  [[nodiscard]] Margin pad(unsigned axis) const;
  [[nodiscard]] unsigned conflicts(unsigned at_pitch) const;

  const StepPlan& plan_;
  StepShape shape_;
  const std::vector<unsigned> shared_;
  Margin read_rows_; // of a strip: those at its begin and at its end that other strips read
};

} // namespace ptxasw::passes
