// Reads the places off the registers that a thread has of itself.
#include "passes/time_tile/step/step_axes.hpp"

#include "passes/time_tile/step/block_shapes.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {

using emulator::AtomKind;
using ptx::Special;
using sym::Term;

namespace {

// How far a thread has gone, in threads.
Term walked(emulator::Kernel& kernel, const StepLoops& loops, unsigned axis) {
  sym::Context& context = *kernel.context;
  const StepLoop* const loop = loops.along(axis);
  if (loop == nullptr) return context.constant(32, 0);
  return context.mul(context.extract(loop->iteration, 0, 32),
                     context.mul(kernel.trace.special(ptx::along(Special::nctaid_x, axis)),
                                 kernel.trace.special(ptx::along(Special::ntid_x, axis))));
}

} // namespace

FoundAxes find_axes(emulator::Kernel& kernel, const StepLoops& loops, Meaning& meaning,
                    StepPlaces& places) {
  using enum Special;
  sym::Context& context = *kernel.context;
  FoundAxes made;
  std::optional<BlockShape> strides;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Term thread = kernel.trace.special(ptx::along(tid_x, axis)),
               block = kernel.trace.special(ptx::along(ctaid_x, axis));
    Term size = kernel.trace.special(ptx::along(ntid_x, axis));
    const bool has_thread = thread.valid() && !context.value(thread),
               has_block = block.valid() && !context.value(block);
    if (!has_thread && !has_block) continue;
    const Term place = context.atom({.name = std::string(1, "xyz"[axis]),
                                     .width = 32,
                                     .kind = static_cast<std::uint32_t>(AtomKind::unknown),
                                     .hi = 0x7fffffff});
    meaning.axes.emplace(place.id, axis);
    if (!has_thread || !has_block) {
      made.places[axis] = has_thread ? Place::thread : Place::block;
      places.add((has_thread ? thread : block).id, place, axis, place);
      continue;
    }
    if (!size.valid()) { // a number is written in the program
      if (!strides) strides = block_strides(kernel);
      const std::uint32_t stride = (*strides)[axis];
      if (stride == 0 || loops.along(axis) != nullptr)
        return {
            .refused = {Reason::step_thread, fmt::format("%tid.{} counts by itself", "xyz"[axis])}};
      size = context.constant(32, stride);
      meaning.sizes.emplace(axis, stride);
      require_size(made.shape, axis, stride, "it is for blocks of another shape");
    }
    made.places[axis] = Place::threads;
    places.add(
        thread.id,
        context.sub(place, context.add(context.mul(block, size), walked(kernel, loops, axis))),
        axis, place);
  }
  return made;
}

} // namespace ptxasw::passes
