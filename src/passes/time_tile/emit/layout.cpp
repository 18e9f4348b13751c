// Chooses axes, paddings and the places of tiles.
#include "passes/time_tile/emit/layout.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ptxasw::passes {

namespace {

constexpr unsigned most_shared = 48 << 10;
constexpr unsigned least_centre = 8;   // places along an axis
constexpr Number most_structure = 128; // bytes: of a line

unsigned rounded(unsigned n, unsigned to) {
  return (n + to - 1) / to * to;
}

bool reads_neighbours(const StepArray& array) {
  return std::ranges::any_of(array.loads, [](const StepArray::Load& load) {
    return std::ranges::any_of(load.cases,
                               [](const StepArray::Case& one) { return one.offset != Offset{}; });
  });
}

} // namespace

std::optional<unsigned> axis_of_neighbours(const StepPlan& plan) {
  const StepArray& array = plan.arrays[0];
  std::optional<unsigned> found;
  Number least = most_structure + 1; // it may be a field
  for (unsigned axis = 0; axis < 3; ++axis)
    if (const auto stride = array.element.along(axis).constant();
        stride && *stride >= array.bytes && *stride < least) {
      found = axis;
      least = *stride;
    }
  return found;
}

StepLayout::StepLayout(const StepPlan& plan, const StepShape& shape, std::vector<unsigned> shared)
    : plan_(plan), shape_(shape), shared_(std::move(shared)) {
  choose_axes();
  if (!refused.empty()) return;
  pad_u = pad(axes.u);
  for (unsigned* side : {&pad_u.before, &pad_u.behind})
    *side = rounded(*side, columns()) / columns();
  pad_v = pad(axes.v);
  choose_rows();
  halo_u = reach(axes.u, shape_.count);
  for (unsigned* side : {&halo_u.before, &halo_u.behind})
    *side = rounded(*side, columns());
  halo_v = reach(axes.v, shape_.count);
  if (halo_u.both() + least_centre > shape_.width ||
      (has_strips() && halo_v.both() + least_centre > height()))
    refuse("so many steps reach beyond a region");
  else if (refused.empty())
    place_tiles();
}

void StepLayout::choose_rows() {
  if (!shape_.lanes) return;
  const bool words =
      std::ranges::all_of(plan_.arrays, [](const StepArray& array) { return array.bytes >= 4; });
  if (!words || 32 % across() != 0 || block() % 32 != 0 || pad_u.before > across()) {
    refuse("rows are no part of a warp");
    return;
  }
  const Margin one = reach(axes.v, 1);
  read_rows_ = {one.behind, one.before};
  compact = has_strips() && std::max(one.before, one.behind) <= rows() && one.both() < rows();
}

void StepLayout::choose_axes() {
  const IntegerPolynomial& element = plan_.arrays[0].element;
  const auto moves = [&](unsigned axis) { return plan_.reads_beside(axis); };
  const auto along = axis_of_neighbours(plan_);
  if (!along) return refuse("no axis runs along neighbouring elements", Reason::step_element);
  axes.u = *along;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axis == axes.u || element.along(axis).is_zero()) continue;
    if (has_strips() && !moves(axis)) continue;
    if (has_strips() && moves(axes.v))
      refuse("its neighbours lie along three axes", Reason::step_in_space);
    axes.v = axis;
  }
  for (const StepArray& array : plan_.arrays)
    if (columns() != 1 && spacing(array) == 0)
      refuse("its arrays lie along different axes", Reason::step_several_arrays);
}

unsigned StepLayout::spacing(const StepArray& array) const {
  const Number far = array.element.along(axes.u).constant().value_or(0);
  return far >= array.bytes && far <= most_structure ? static_cast<unsigned>(far) : 0;
}

// The most lanes of a warp that meet in one bank, at the first array's element size.
unsigned StepLayout::conflicts(unsigned at_pitch) const {
  const unsigned lanes = std::min(32U, 128 / plan_.arrays[0].bytes);
  std::vector<unsigned> in_bank(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane)
    ++in_bank[(lane % across() + lane / across() * strip_rows() * at_pitch) % lanes];
  return *std::ranges::max_element(in_bank);
}

void StepLayout::place_tiles() {
  const unsigned least = across() + pad_u.both();
  pitch = least;
  for (unsigned wider = least + 1; wider < least + 4; ++wider)
    if (conflicts(wider) < conflicts(pitch)) pitch = wider;
  // Where no strip reads another one's rows there is no tile, but PTX knows no empty array.
  tile_places = std::max(1U, columns() * pitch * tile_rows());
  const auto tile_of = [&](std::size_t n) {
    return shared_.empty() ? static_cast<unsigned>(n) : shared_[n];
  };
  std::map<unsigned, unsigned> widest, begins; // by tile
  for (std::size_t n = 0; n < plan_.arrays.size(); ++n)
    if (const StepArray& array = plan_.arrays[n]; !array.carried || reads_neighbours(array))
      widest[tile_of(n)] = std::max(widest[tile_of(n)], array.bytes);
  for (const auto& [tile, bytes] : widest) {
    begins[tile] = tile_bytes;
    tile_bytes = rounded(tile_bytes + tile_places * bytes, 16);
  }
  for (std::size_t n = 0; n < plan_.arrays.size(); ++n)
    tiles.push_back(begins[tile_of(n)]);
  two_tiles = 2 * tile_bytes <= most_shared;
  if (tile_bytes > most_shared) refuse("a region does not fit into shared memory");
}

Margin StepLayout::reach(unsigned axis, unsigned steps) const {
  if (axis > 2) return {};
  const auto places = [](int far) { return static_cast<unsigned>(std::max(0, far)); };
  return {steps * places(-plan_.least[axis]) + places(-plan_.once_least[axis]),
          steps * places(plan_.most[axis]) + places(plan_.once_most[axis])};
}

// Readers of a place are as far from it as what it reads, on the other side.
Margin StepLayout::pad(unsigned axis) const {
  const Margin one = reach(axis, 1);
  const unsigned far = std::max(one.before, one.behind);
  return {far, far};
}

StepLayout::Owner StepLayout::owner_of(int column) const {
  const int wide = static_cast<int>(columns());
  const int own = (column % wide + wide) % wide;
  return {(column - own) / wide, own};
}

int StepLayout::in_tile(int column, int row) const {
  const int from = static_cast<int>(pitch);
  const auto [thread, plane] = owner_of(column);
  const bool behind = compact && row >= static_cast<int>(read_rows_.before);
  const int at = behind ? row - static_cast<int>(rows() - strip_rows()) : row;
  return plane * from * static_cast<int>(tile_rows()) + at * from + thread;
}

unsigned StepLayout::centre(unsigned axis) const {
  if (axis == axes.u) return shape_.width - halo_u.both();
  if (axis == axes.v) return height() - halo_v.both();
  return 1;
}

} // namespace ptxasw::passes
