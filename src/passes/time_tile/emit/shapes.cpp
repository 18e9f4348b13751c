// Lists shapes that can be written, best first by what their regions compute in vain.
#include "passes/time_tile/emit/shapes.hpp"

#include "passes/time_tile/emit/layout.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ptxasw::passes {

namespace {

using numbers::steps::many_values;
using numbers::steps::most_instructions, numbers::steps::most_stack;

struct StepKind {
  bool near = false, narrow = false; // radius 1; one word an element
  int reach = 0;
  std::size_t values = 0; // that a step reads for a place
  std::size_t others = 0; // of arrays that nobody stores to
};

StepKind kind_of(const StepPlan& plan) {
  int reach = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    reach = std::max({reach, -plan.least[axis], plan.most[axis]});
  unsigned bytes = 0;
  std::size_t values = 0;
  for (const StepArray& array : plan.arrays) {
    bytes += array.bytes;
    values += array.loads.size();
  }
  const auto others = std::ranges::count_if(plan.touched, [&](const contract::Touched& one) {
    return std::ranges::none_of(plan.arrays, [&](const StepArray& array) {
      return one.parameter == array.in || one.parameter == array.out;
    });
  });
  return {reach <= 1, bytes <= 4, reach, values, static_cast<std::size_t>(others)};
}

// Neighbours from lane to lane: what is left for shared memory are rows at the ends of strips, and
// threads hold one image, which 80 registers have room for. Such regions need guards of one axis
// each and elements of one word or two. Where the halo is wide and a step short, higher regions pay
// although fewer of them fit on an SM.
StepShape by_lanes(const StepPlan& plan) {
  const auto [near, narrow, reach, values, others] = kind_of(plan);
  const bool many = values >= many_values;
  StepShape shape{.strips = 8, .rows = 8, .resident = 3, .lanes = true};
  shape.count = many ? 3 : 5;
  if (near) shape.count = narrow ? 9 : 7;
  shape.width = narrow ? 128 : 64; // a warp's threads
  shape.columns = narrow ? 4 : 2;
  if (!near && !many) {
    shape.rows = narrow ? 10 : 12;
    shape.resident = 2;
  }
  return shape;
}

} // namespace

// Measured on an H200, 2-D, 512^2 to 8192^2: of several hundred shapes those with the best
// geometric mean (bench/results/h200/steps.md). Halos of nine or seven steps of radius 1 still pay,
// of radius 2 no more than five, and three where each step is long. Left to itself ptxas takes so
// many registers that an SM holds a single block. Two tiles, or regions that need more shared
// memory than a block has without asking, gained nothing. Behind the first shape are those for
// kernels that cannot have it.
std::vector<StepShape> step_shapes(const StepPlan& plan, std::optional<unsigned> count) {
  const auto [near, narrow, reach, values, others] = kind_of(plan);
  const unsigned steps = near ? 7 : 3;
  std::vector<StepShape> shapes{by_lanes(plan)};
  if (narrow && (near || values < many_values))
    shapes.push_back({.count = near ? 9U : 5U,
                      .width = 128,
                      .strips = 8,
                      .rows = 8,
                      .columns = 4,
                      .resident = 2});
  if (!narrow && near) shapes.push_back({.count = 7, .strips = 8, .rows = 8, .columns = 4});
  const unsigned resident = narrow ? 3 : 2;
  shapes.push_back({.count = steps, .strips = 8, .rows = 8, .columns = 2, .resident = resident});
  shapes.push_back({.count = steps, .resident = resident});
  // Several arrays.
  shapes.push_back({.count = near ? 5U : 3U, .strips = 5, .rows = 8, .columns = 2});
  shapes.push_back({.count = 3, .width = 32, .strips = 8, .rows = 4});
  for (StepShape& shape : shapes) {
    shape.count = count.value_or(shape.count);
    if (plan.rotation) shape.count = std::max(3U, shape.count / 3 * 3);
  }
  return shapes;
}

// A launch of fewer blocks than processors takes as long as one block: half the width gives twice
// as many (5 points of f32: 5.49 instead of 4.11 of a step's gain at 256^2, 4.29 instead of 3.89 at
// 512^2; 25 points 1.99 instead of 1.45, 2.06 instead of 1.47). With a block for each, the larger
// regions win (3.73 and 3.90 at 1024^2).
std::optional<StepShape> small_step_shape(const StepPlan& plan) {
  const auto [near, narrow, reach, values, others] = kind_of(plan);
  StepShape shape = by_lanes(plan);
  if (narrow) {
    shape.width = 64;
    shape.columns = 2;
    shape.rows = 8;
    shape.resident = near ? 4 : 3;
  } else if (shape.rows > 10) {
    shape.rows = 10;
  } else {
    return std::nullopt;
  }
  return shape;
}

// Measured on an H100, 64^3 to 512^3 (bench/steps/cubes/sweep). A warp's row is the narrowest
// region; of f32 with few values two columns a thread win where there are enough blocks. What a
// level keeps has to stay in registers. Stretches of 64 planes compute a tenth of them twice, and
// win where there are several blocks for each processor. Stars that read two places far gain in f32
// (1.27 at 256^3), not in f64 (0.5). Loads of other arrays cost each level as much as in a single
// launch: of f32 six of them gain (1.11 to 1.25 from 256^3 on), seven do not, and neither does one
// beside a rim that is clamped.
std::vector<MarchShape> march_shapes(const StepPlan& plan, std::optional<unsigned> count) {
  const auto [near, narrow, reach, values, others] = kind_of(plan);
  const bool is_star = reach == 2 && narrow && values < many_values;
  const std::size_t most_others = values >= many_values ? 1 : narrow ? 6 : 2;
  if (others != 0 && (!near || !plan.inner.empty() || others > most_others)) return {};
  if (!near && !is_star) return {};
  const StepShape base{.count = count.value_or(3), .width = 32, .strips = 8, .rows = 4};
  const auto march = [&](unsigned strips, unsigned rows, unsigned columns, unsigned resident,
                         std::vector<MarchShape::Stretch> stretches) {
    MarchShape made{base, std::move(stretches)};
    made.shape.width *= columns;
    made.shape.strips = strips;
    made.shape.rows = rows;
    made.shape.columns = columns;
    made.shape.resident = resident;
    made.shape.planes = made.stretches.front().planes;
    return made;
  };
  if (is_star) return {march(8, 5, 1, 2, {{64, 1}})};
  if (values >= many_values)
    return {narrow ? march(8, 6, 1, 2, {{64, 8}, {32, 1}}) : march(6, 5, 1, 2, {{64, 1}})};
  if (others > 2) return {march(8, 5, 1, 2, {{16, 1}})};
  if (!narrow && others == 2) return {march(6, 5, 1, 2, {{16, 1}})};
  if (!narrow) return {march(8, 4, 1, 2, {{64, 16}, {16, 1}})};
  return {march(8, 4, 2, 2, {{64, 8}, {16, 4}}), march(8, 4, 1, 3, {{16, 1}, {8, 1}})};
}

// From 64^3 and 128^3 on, with many values from 192^3 and 256^3, of radius 2 from 256^3: a little
// less, as a launch may have threads for the places inside a rim alone. Where rims are not left out
// their places are computed twice: of f32 0.70 to 1.2 at 64^3, 0.92 to 1.4 at 128^3, on an H200.
// With one or two loads of other arrays 0.72 at 129^3, 0.83 to 1.5 at 160^3.
std::uint64_t least_march(const StepPlan& plan) {
  const auto [near, narrow, reach, values, others] = kind_of(plan);
  const auto cube = [](std::uint64_t n) { return n * n * n; };
  if (!near) return cube(248);
  if (values >= many_values) return cube(narrow ? 184 : 248);
  if (others != 0) return cube(others > 2 ? 248 : 184);
  return cube(narrow && plan.inner.empty() ? 60 : 120);
}

StepTile tile_of(const StepPlan& plan, const StepShape& shape) {
  const unsigned along = axis_of_neighbours(plan).value_or(0);
  const auto beside = [&](unsigned reads) {
    const unsigned far = reads * shape.count;
    return (far + shape.columns - 1) / shape.columns * shape.columns;
  };
  StepTile tile{.count = shape.count,
                .width = shape.width,
                .reads_before = static_cast<unsigned>(std::max(0, -plan.least[along])),
                .reads_behind = static_cast<unsigned>(std::max(0, plan.most[along]))};
  tile.before = beside(tile.reads_before);
  tile.behind = beside(tile.reads_behind);
  return tile;
}

Why why_too_long(std::string_view text) {
  if (std::ranges::count(text, ';') <= most_instructions) return {};
  return {Reason::step_region, "an entry has too many instructions"};
}

bool stays_in_registers(const Usage& usage) {
  return usage.stack <= most_stack;
}

} // namespace ptxasw::passes
