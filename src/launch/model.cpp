// See model.hpp.
#include "launch/model.hpp"

#include <algorithm>
#include <cmath>

namespace ptxasw::launch {
namespace {

// Less is within what the model does not know; of small launches it knows less. As fitted on every
// second kernel of the suites, in launches of an eighth to 64 waves, and judged on the others.
constexpr double worth_it = 1.08, worth_it_small = 1.12, small_waves = 8;
constexpr unsigned least_blocks = 2; // of a variant, for each multiprocessor

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
  if (count(variant.divide) > 1 && blocks < least_blocks * kernel.processors) return 0;
  return gain > 0 ? 1 / (alone + (1 - alone) / gain) : 0;
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
    if (waves > 0)
      shape.predicted[n] =
          in_this_grid(contract::gain_of(variants[n], threads, waves), kernel, shape, variants[n]);
  }
}

unsigned best_by_model(const contract::Contract& contract, const Shape& shape) {
  unsigned best = 0;
  for (unsigned n = 1; n < shape.predicted.size(); ++n)
    if (contract.variants[n].kind == contract::Kind::original && shape.usable[n] &&
        shape.predicted[n] > shape.predicted[best])
      best = n;
  double most = (shape.waves < small_waves ? worth_it_small : worth_it) * shape.predicted[best];
  for (unsigned n = 1; n < shape.predicted.size(); ++n) {
    if (!shape.usable[n] || shape.predicted[n] <= most) continue;
    best = n;
    most = shape.predicted[n];
  }
  return best;
}

unsigned trials(const Shape& shape) {
  constexpr double is_short = 20; // microseconds
  constexpr unsigned usual = 6, of_short = 16;
  return shape.timings[0].least < is_short ? of_short : usual;
}

bool is_out(const Shape& shape, unsigned variant) {
  constexpr unsigned few = 3;
  constexpr double hopeless = 1.25;
  const auto is_tried = [](const Timing& timing) { return timing.samples >= few; };
  if (variant == 0 || !is_tried(shape.timings[variant])) return false;
  double least = shape.timings[0].least;
  for (const Timing& timing : shape.timings)
    if (is_tried(timing)) least = std::min(least, timing.least);
  return shape.timings[variant].least > hopeless * least;
}

unsigned fastest(const Shape& shape) {
  const auto time = [&](unsigned n) { return shape.timings[n].least; };
  unsigned kept = shape.by_model, best = 0;
  if (time(0) < time(kept)) kept = 0;
  for (unsigned n = 1; n < shape.timings.size(); ++n)
    if (shape.usable[n] && time(n) < time(best)) best = n;
  constexpr double noise = 0.02, resolution = 0.25; // microseconds
  return time(best) * (1 + noise) + resolution < time(kept) ? best : kept;
}

} // namespace ptxasw::launch
