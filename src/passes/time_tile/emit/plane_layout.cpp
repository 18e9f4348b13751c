// Chooses axes, halos and the places of tiles of blocks that march through planes.
#include "passes/time_tile/emit/plane_layout.hpp"

#include <algorithm>
#include <numeric>

namespace ptxasw::passes {

namespace {

constexpr unsigned most_on_chip = 48 << 10, least_across = 8;

unsigned to_whole(unsigned n, unsigned of) {
  return (n + of - 1) / of * of;
}

Margin after_steps(const Margin& one, unsigned steps) {
  return {one.before * steps, one.behind * steps};
}

} // namespace

bool is_in_space(const StepPlan& plan) {
  return std::ranges::all_of(std::array{0U, 1U, 2U}, [&](unsigned axis) {
    return plan.least[axis] != 0 || plan.most[axis] != 0;
  });
}

Why why_not_in_planes(const StepPlan& plan) {
  const auto because = [](std::string_view why) {
    return Why{Reason::step_in_space,
               std::string("its neighbours lie along three axes, and ").append(why)};
  };
  if (plan.rotation || plan.arrays.size() != 1) return because("it has several arrays");
  const StepArray& array = plan.arrays[0];
  if (array.parts != 1 || (array.bytes != 4 && array.bytes != 8))
    return because("its elements are not of 4 or 8 bytes");
  if (plan.rows ||
      std::ranges::any_of(plan.walks, [](const auto& walk) { return walk && !walk->alone; }))
    return because("its threads take several places");
  if (std::ranges::any_of(plan.periods, [](const auto& period) { return period.has_value(); }))
    return because("they go around a torus");
  if (std::ranges::any_of(array.loads, &StepArray::Load::late))
    return because("data decide what it reads");
  return {};
}

PlaneLayout::PlaneLayout(const StepPlan& plan, const StepShape& shape)
    : plan_(plan), shape_(shape) {
  refused = why_not_in_planes(plan);
  if (!refused.empty()) return;
  if (!is_in_space(plan)) refuse("its neighbours do not lie along three axes");
  if (!refused.empty()) return;
  choose_axes();
  if (!refused.empty()) return;
  const auto reach = [&](unsigned axis) {
    return Margin{static_cast<unsigned>(std::max(0, -plan.least[axis])),
                  static_cast<unsigned>(std::max(0, plan.most[axis]))};
  };
  reach_u = reach(u);
  reach_v = reach(v);
  far = std::max(reach(w).before, reach(w).behind);
  pad_u_ = to_whole(std::max(reach_u.before, reach_u.behind), columns()) / columns();
  pad_v_ = std::max(reach_v.before, reach_v.behind);
  halo_u = after_steps(reach_u, shape.count);
  for (unsigned* side : {&halo_u.before, &halo_u.behind})
    *side = to_whole(*side, columns());
  halo_v = after_steps(reach_v, shape.count);
  if (shape.width != lanes * columns() || places() > 32 || pad_u_ > lanes)
    refuse("rows are no part of a warp");
  else if (rows() < strip_rows())
    refuse("a strip has fewer rows than other strips read");
  else if (halo_u.both() + least_across > shape.width || halo_v.both() + least_across > height())
    refuse("so many steps reach beyond a region");
  else if ((shape.count + 1) * far + 2 > 32)
    refuse("so many steps reach beyond the planes that are known");
  else
    choose_tiles();
}

void PlaneLayout::choose_axes() {
  const auto along = axis_of_neighbours(plan_);
  if (!along) return refuse("no axis runs along neighbouring elements", Reason::step_element);
  u = *along;
  v = u == 0 ? 1 : 0;
  w = 3 - u - v;
}

void PlaneLayout::choose_tiles() {
  bool any = false;
  for (const StepArray::Load& load : plan_.arrays[0].loads)
    for (const auto& [offset, bounds] : load.cases) {
      if (offset[v] == 0) continue;
      first_tiled = any ? std::min(first_tiled, offset[w]) : offset[w];
      last_tiled = any ? std::max(last_tiled, offset[w]) : offset[w];
      any = true;
    }
  const auto fits = [&](unsigned n) { return n * shape_.count * tile_bytes() <= most_on_chip; };
  // What one position reads and the next one writes is not the same tile.
  slots = static_cast<unsigned>(last_tiled - first_tiled) + (one_barrier() ? 2 : 1);
  if (!fits(slots)) refuse("a region does not fit into shared memory");
  if (fits(kept())) slots = kept();
}

unsigned PlaneLayout::period() const {
  return std::lcm(kept(), slots);
}

StepLayout::Owner PlaneLayout::owner_of(int column) const {
  const int wide = static_cast<int>(columns());
  const int own = (column % wide + wide) % wide;
  return {(column - own) / wide, own};
}

// Each column of the threads has a plane of its own: lanes access neighbouring words. Of a strip
// there are the first rows and the last ones.
int PlaneLayout::in_tile(int column, int row) const {
  const auto [thread, own] = owner_of(column);
  const int left_out = static_cast<int>(rows()) - static_cast<int>(strip_rows());
  const int at = row >= static_cast<int>(pad_v_) ? row - left_out : row;
  return at * static_cast<int>(shape_.width) + own * static_cast<int>(lanes) + thread;
}

unsigned PlaneLayout::first_bytes() const {
  return (pad_v_ * shape_.width + pad_u_) * plan_.arrays[0].bytes;
}

unsigned PlaneLayout::tile_bytes() const {
  return to_whole(
      2 * first_bytes() + shape_.strips * strip_rows() * shape_.width * plan_.arrays[0].bytes, 16);
}

} // namespace ptxasw::passes
