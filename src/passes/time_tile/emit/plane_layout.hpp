// How a block that marches through planes lies in the grid and on chip: which axes it goes along,
// what its threads own of a plane, and where its tiles lie in shared memory. For planes.cpp.
#pragma once

#include "passes/time_tile/emit/layout.hpp"

namespace ptxasw::passes {

// Of the several threads of a warp each has neighbouring columns, so that a warp has whole rows;
// several warps have a strip of rows each, and all of them go from plane to plane.
class PlaneLayout {
public:
  PlaneLayout(const StepPlan& plan, const StepShape& shape);

  Why refused; // why there is none; nothing else is then valid
  // Neighbouring elements, rows, planes.
  unsigned u = 0, v = 1, w = 2;
  // How far a step reads along u and v, and along w on either side at most.
  Margin reach_u, reach_v;
  unsigned far = 1;
  // Beside the centre of a region, along u in whole threads.
  Margin halo_u, halo_v;
  // Planes that other strips' rows are read of, as seen from the plane that is computed.
  int first_tiled = 0, last_tiled = 0;
  unsigned slots = 1; // tiles of each time level

  [[nodiscard]] unsigned columns() const { return shape_.columns; }
  [[nodiscard]] unsigned rows() const { return shape_.rows; }
  [[nodiscard]] unsigned places() const { return columns() * rows(); } // of a thread, in a plane
  [[nodiscard]] unsigned height() const { return shape_.strips * rows(); }
  [[nodiscard]] unsigned block() const { return lanes * shape_.strips; }
  [[nodiscard]] unsigned centre_u() const { return shape_.width - halo_u.both(); }
  [[nodiscard]] unsigned centre_v() const { return height() - halo_v.both(); }
  // Planes of a time level that a thread keeps.
  [[nodiscard]] unsigned kept() const { return 2 * far + 1; }
  // Positions of the march after which registers and tiles come round.
  [[nodiscard]] unsigned period() const;
  // What a level's tile gets is known a position before the level is computed: one barrier a
  // position is enough.
  [[nodiscard]] bool one_barrier() const { return last_tiled < static_cast<int>(far); }

  // Of a row of a strip, as seen from the thread's first element of its strip.
  [[nodiscard]] int in_tile(int column, int row) const;
  [[nodiscard]] unsigned tile_bytes() const;
  [[nodiscard]] unsigned first_bytes() const; // in front of the first strip
  // Other strips read this row of a strip.
  [[nodiscard]] bool is_passed_on(unsigned row) const {
    return row < reach_v.behind || row + reach_v.before >= rows();
  }
  // Of a column the lane, beside the one that it is counted from, and which of its columns.
  [[nodiscard]] StepLayout::Owner owner_of(int column) const;

  static constexpr unsigned lanes = 32;

private:
  void choose_axes();
  void choose_tiles();
  [[nodiscard]] unsigned strip_rows() const { return 2 * pad_v_; } // of a tile
  void refuse(std::string_view why, Reason reason = Reason::step_region) {
    if (refused.empty()) refused = {reason, std::string(why)};
  }

  const StepPlan& plan_;
  StepShape shape_;
  unsigned pad_u_ = 0, pad_v_ = 0; // lanes, rows
};

// Neighbours of a place lie along three axes.
bool is_in_space(const StepPlan& plan);

// Why its planes cannot be marched through, whatever the shape; or empty.
Why why_not_in_planes(const StepPlan& plan);

} // namespace ptxasw::passes
