// See steps_layout.hpp.
#include "rewrite/steps_layout.hpp"

#include <algorithm>

namespace ptxasw::rewrite {

using reuse::StepArray;
using reuse::Whole;

namespace {

constexpr unsigned most_shared = 48 << 10;
constexpr unsigned least_centre = 8; // places along an axis

} // namespace

StepLayout::StepLayout(const reuse::StepPlan& plan, const StepShape& shape)
    : plan_(plan), shape_(shape) {
  choose_axes();
  if (!refused.empty()) return;
  pad_u = pad(axes.u);
  pad_v = pad(axes.v);
  halo_u = reach(axes.u, shape_.count);
  halo_v = reach(axes.v, shape_.count);
  if (halo_u.both() + least_centre > shape_.width ||
      (has_strips() && halo_v.both() + least_centre > height()))
    refused = "so many steps reach beyond a region";
  else
    place_tiles();
}

void StepLayout::choose_axes() {
  const Whole &element = plan_.arrays[0].element, next(plan_.arrays[0].bytes);
  const auto moves = [&](unsigned axis) { return plan_.least[axis] != 0 || plan_.most[axis] != 0; };
  for (unsigned axis = 0; axis < 3; ++axis)
    if (element.along(axis) == next) axes.u = axis;
  if (element.along(axes.u) != next) {
    refused = "no axis runs along neighbouring elements";
    return;
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axis == axes.u || element.along(axis).is_zero()) continue;
    if (has_strips() && !moves(axis)) continue;
    if (has_strips() && moves(axes.v)) refused = "its neighbours lie along three axes";
    axes.v = axis;
  }
}

void StepLayout::place_tiles() {
  pitch = shape_.width + pad_u.both();
  tile_places = pitch * (height() + pad_v.both());
  for (const StepArray& array : plan_.arrays) {
    tiles.push_back(tile_bytes);
    tile_bytes += tile_places * array.bytes;
  }
  tile_bytes = (tile_bytes + 15) / 16 * 16;
  two_tiles = 2 * tile_bytes <= most_shared;
  if (tile_bytes > most_shared) refused = "a region does not fit into shared memory";
}

Margin StepLayout::reach(unsigned axis, unsigned steps) const {
  if (axis > 2) return {};
  return {steps * static_cast<unsigned>(std::max(0, -plan_.least[axis])),
          steps * static_cast<unsigned>(std::max(0, plan_.most[axis]))};
}

// Readers of a place are as far from it as what it reads, on the other side.
Margin StepLayout::pad(unsigned axis) const {
  const Margin one = reach(axis, 1);
  const unsigned far = std::max(one.before, one.behind);
  return {far, far};
}

unsigned StepLayout::centre(unsigned axis) const {
  if (axis == axes.u) return shape_.width - halo_u.both();
  if (axis == axes.v) return height() - halo_v.both();
  return 1;
}

} // namespace ptxasw::rewrite
