// See steps.hpp.
#include "rewrite/steps.hpp"

#include "rewrite/steps_stream.hpp"
#include "rewrite/steps_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

namespace ptxasw::rewrite {

using reuse::StepArray;
using reuse::Whole;

StepEntry StepWriter::run() {
  if (!at_.refused.empty()) return {.refused = at_.refused};
  prologue();
  write_path(true);
  text_.label(labels_ + "rim");
  write_path(false);
  finish(at_.block(), {at_.centre(0), at_.centre(1), at_.centre(2)},
         fmt::format("\t.shared .align 16 .b8 {}[{}];\n", tile_name, at_.shared()));
  return std::move(entry_);
}

// --- Prologue -----------------------------------------------------------------------------------

void StepWriter::prologue() {
  text_.line("// ptxasw: {} steps at once", shape_.count);
  body_.parameters();
  find_thread();
  for (unsigned axis = 0; axis < 3; ++axis)
    if (plan_.places[axis] != reuse::Place::none) find_place(axis);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    find_elements(n);
  if (plan_.convex) { // the region's corners tell of all of it
    StepBody::Place last = corner_;
    last[at_.axes.u] = plus(corner_[at_.axes.u], shape_.width - 1);
    if (at_.has_strips()) last[at_.axes.v] = plus(corner_[at_.axes.v], at_.height() - 1);
    const std::string first_in = inside(corner_), last_in = inside(last), both = predicate();
    text_.line("and.pred \t{}, {}, {};", both, first_in, last_in);
    text_.line("@!{} bra \t{}rim;", both, labels_);
  } else {
    text_.line("bra \t{}rim;", labels_);
  }
}

// The thread's first place in the region, and where that lies in the tiles.
void StepWriter::find_thread() {
  const std::string across = b32(), tile = b32(), at = b32();
  thread_ = b32();
  text_.line("mov.u32 \t{}, %tid.x;", thread_);
  first_row_ = b32();
  if (at_.has_strips()) {
    const std::string strip = b32();
    text_.line("rem.u32 \t{}, {}, {};", across, thread_, at_.across());
    text_.line("div.u32 \t{}, {}, {};", strip, thread_, at_.across());
    text_.line("mul.lo.u32 \t{}, {}, {};", first_row_, strip, at_.rows());
  } else {
    text_.line("mov.u32 \t{}, {};", across, thread_);
    text_.line("mov.u32 \t{}, 0;", first_row_);
  }
  column_ = b32();
  text_.line("mul.lo.u32 \t{}, {}, {};", column_, across, at_.columns());
  text_.line("mov.u32 \t{}, {};", tile, tile_name);
  text_.line("mad.lo.u32 \t{}, {}, {}, {};", at, first_row_, at_.pitch, across);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const unsigned bytes = plan_.arrays[n].bytes;
    const std::string mine = b32();
    text_.line("mad.lo.u32 \t{}, {}, {}, {};", mine, at, bytes, tile);
    mine_.push_back(
        plus(mine, at_.tiles[n] + (at_.pad_v.before * at_.pitch + at_.pad_u.before) * bytes));
  }
}

// The region's first place and this thread's own along an axis.
void StepWriter::find_place(unsigned axis) {
  const std::string block = b32(), limit = b32();
  text_.line("mov.u32 \t{}, %ctaid.{};", block, "xyz"[axis]);
  text_.line("ld.param.u32 \t{}, [{}+{}];", limit, threads_parameter, 4 * axis);
  limit_[axis] = limit;
  if (axis != at_.axes.u && axis != at_.axes.v) {
    corner_[axis] = place_[axis] = block;
    return;
  }
  const Margin& halo = axis == at_.axes.u ? at_.halo_u : at_.halo_v;
  const std::string first = b32();
  text_.line("mul.lo.u32 \t{}, {}, {};", first, block, at_.centre(axis));
  corner_[axis] = plus(first, -static_cast<long>(halo.before));
  place_[axis] = b32();
  text_.line("add.s32 \t{}, {}, {};", place_[axis], corner_[axis],
             axis == at_.axes.u ? column_ : first_row_);
}

// Where this thread's elements begin, and how far it is from row to row.
void StepWriter::find_elements(unsigned n) {
  const StepArray& array = plan_.arrays[n];
  row_stride_.emplace_back(at_.has_strips() ? number(array.element.along(at_.axes.v)) : "");
  const std::string offset = element(n, place_);
  in_.push_back(added(begin_of(array.in), offset));
  out_.push_back(added(begin_of(array.out), offset));
  if (at_.columns() == 1) return;
  // Columns and halos are whole vectors.
  const unsigned bytes = at_.vector(array.bytes) * array.bytes;
  in_aligned_.push_back(is_aligned(in_.back(), row_stride_[n], bytes));
  out_aligned_.push_back(is_aligned(out_.back(), row_stride_[n], bytes));
}

// --- The entry ----------------------------------------------------------------------------------

StepEntry write_steps(const emulator::Kernel& kernel, const reuse::StepPlan& plan,
                      const StepShape& shape, const std::string& name) {
  if (!plan.refused.empty()) return {.refused = plan.refused};
  for (const std::string_view taken : {StepBase::threads_parameter, StepBase::tile_name})
    if (kernel.body.module->text->find(taken) != std::string::npos)
      return {.refused = fmt::format("the module has a name {}", taken)};
  if (shape.count % 2 == 0 || !std::has_single_bit(shape.columns))
    return {.refused = "no such shape"};
  if (shape.streamed && shape.columns <= 8) return StreamWriter(kernel, plan, shape, name).run();
  if (shape.streamed || shape.rows * shape.columns > 64 || shape.width % shape.columns != 0)
    return {.refused = "no such shape"};
  return StepWriter(kernel, plan, shape, name).run();
}

} // namespace ptxasw::rewrite
