// What the model says of a launch, from waves, times of blocks and what the guard would cost.
#include "launch/choose/model.hpp"

#include "target/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace ptxasw::launch {
namespace {

namespace limits = numbers::launch;

bool launches(const Entry& entry, const Dims& block) {
  return entry.function != nullptr &&
         count(block) <= static_cast<unsigned long long>(entry.most_threads);
}

// Another block shape has to be one, and may not be mostly empty.
bool is_another_shape(const Shape& shape, const contract::Variant& variant) {
  const Dims block = contract::block_of(variant);
  return shape.shared == 0 && block != shape.block &&
         count(block) <= count(shape.grid) * count(shape.block);
}

// Dynamic shared memory that the program has allowed for the kernel it knows.
void allow_shared(const Kernel& kernel, const Entry& entry, const Shape& shape) {
  constexpr unsigned always_allowed = 48 << 10;
  const Driver& d = driver();
  int bytes = 0;
  if (shape.shared <= always_allowed || !d.func_set_attribute) return;
  if (d.func_get_attribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           kernel.function) == CUDA_SUCCESS)
    d.func_set_attribute(entry.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

// How much of what groups of blocks gain a launch gains. Where the grid is one block wide, a block
// that does the work of four neighbours does that of one, and blocks that stand by themselves gain
// nothing. 0 where so few blocks are left that multiprocessors would stand idle.
double in_this_grid(double gain, const Kernel& kernel, const Shape& shape,
                    const contract::Variant& variant) {
  double blocks = 1, alone = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const contract::Blocks found = contract::blocks_of(variant, axis, shape.grid[axis]);
    const double all = shape.grid[axis];
    blocks *= found.groups + found.alone;
    alone = std::max(alone, found.alone / all);
    if (found.groups != 0)
      gain *= (all - found.alone) / (1.0 * found.groups * variant.divide[axis]);
  }
  if (count(variant.divide) > 1 && blocks < limits::least_blocks * kernel.processors) return 0;
  return gain > 0 ? 1 / (alone + (1 - alone) / gain) : 0;
}

// What threads in another order gain: the sectors that their warps fetch less, given how many rows
// this launch has.
double in_this_order(const contract::Contract& contract, const contract::Variant& variant,
                     const Shape& shape) {
  const double before = contract::sectors_of(contract.accesses, contract::lanes_of(shape.block)),
               after = contract::sectors_of(
                   contract.accesses, contract::lanes_of(variant.rows, shape.grid, shape.block)),
               fixed = limits::other_work + limits::launch_work / shape.waves;
  return after < before ? (fixed + before) / (fixed + after) : 0;
}

double predict(const Kernel& kernel, const Shape& shape, const contract::Variant& variant) {
  if (variant.rows.count != 0) return in_this_order(kernel.contract, variant, shape);
  const auto threads = static_cast<unsigned>(count(shape.block));
  return in_this_grid(contract::gain_of(variant, threads, shape.waves), kernel, shape, variant);
}

// Its threads meet, at barriers: what their neighbours loaded they have from shared memory, not
// from what the lanes of a warp or the rows of a block find in the L1 cache.
bool meets(const contract::Variant& variant) {
  return variant.rest == contract::Rest::by_itself;
}

// Small launches are worth a smaller gain, but where rows of a block that are merged had much in
// common already.
double least_gain(const contract::Variant& variant, const Shape& shape) {
  const bool common_rows =
      !meets(variant) && ((variant.divide[1] > 1 && shape.block[1] >= limits::many_rows) ||
                          (variant.divide[2] > 1 && shape.block[2] >= limits::many_rows));
  return shape.waves < limits::small_waves && !common_rows ? limits::worth_it_small
                                                           : limits::worth_it;
}

// As much of a prediction as is believed of this block.
double believed(const contract::Variant& variant, const Shape& shape, double predicted) {
  const unsigned copies = count(variant.divide);
  if (copies == 1) return predicted;
  const contract::Lanes lanes = contract::lanes_of(shape.block);
  const bool several_rows = lanes[0] < contract::warp_lanes && !meets(variant),
             within_warp = (variant.divide[0] > 1 && lanes[0] > 1) ||
                           (variant.divide[1] > 1 && lanes[1] > 1) ||
                           (variant.divide[2] > 1 && lanes[2] > 1);
  if (several_rows && within_warp && predicted > 1)
    predicted = 1 + limits::left_within_warp * (predicted - 1);
  if (copies < limits::many_copies) return predicted;
  return predicted / (variant.divide[0] > 1 ? limits::worth_many_along_x : limits::worth_many);
}

} // namespace

void describe_shape(const Kernel& kernel, Shape& shape) {
  const auto& variants = kernel.contract.variants;
  shape.usable.assign(variants.size(), false);
  shape.predicted.assign(variants.size(), 0);
  shape.timings.assign(variants.size(), {});
  shape.usable[0] = true;
  shape.predicted[0] = 1; // unless the contract says more
  // What the driver refuses of the original it must refuse.
  constexpr unsigned most_along_y_z = 65535, most_along_x = 0x7fffffff;
  if (!launches(kernel.entries[0], shape.block) || count(shape.block) == 0 ||
      count(shape.grid) == 0 || shape.grid[0] > most_along_x || shape.grid[1] > most_along_y_z ||
      shape.grid[2] > most_along_y_z)
    return;
  const auto threads = static_cast<unsigned>(count(shape.block));
  const double waves = kernel.threads_at_a_time == 0 ? 0
                                                     : static_cast<double>(count(shape.grid)) *
                                                           threads / kernel.threads_at_a_time;
  shape.waves = waves;
  for (unsigned n = 0; n < variants.size(); ++n) {
    const Entry& entry = kernel.entries[n];
    const bool reshapes = variants[n].reshapes();
    if (!launches(entry, reshapes ? contract::block_of(variants[n]) : shape.block) ||
        !divides(shape.grid, shape.block, variants[n]) ||
        (reshapes && !is_another_shape(shape, variants[n])))
      continue;
    if (n != 0) allow_shared(kernel, entry, shape);
    shape.usable[n] = true;
    if (n == 0 && variants[0].gains.empty()) continue;
    if (waves > 0) shape.predicted[n] = predict(kernel, shape, variants[n]);
  }
}

unsigned best_by_model(const contract::Contract& contract, const Shape& shape) {
  unsigned best = 0;
  for (unsigned n = 1; n < shape.predicted.size(); ++n)
    if (contract.variants[n].kind == contract::Kind::original && shape.usable[n] &&
        shape.predicted[n] > shape.predicted[best])
      best = n;
  const double unchanged = shape.predicted[best];
  double most = 0;
  for (unsigned n = 1; n < shape.predicted.size(); ++n) {
    const contract::Variant& variant = contract.variants[n];
    const double promised = believed(variant, shape, shape.predicted[n]);
    if (!shape.usable[n] || promised <= most || promised <= least_gain(variant, shape) * unchanged)
      continue;
    best = n;
    most = promised;
  }
  return best;
}

} // namespace ptxasw::launch
