// The frame of an entry for several time steps.
#include "passes/time_tile/emit/steps.hpp"

#include "contract/steps.hpp"
#include "passes/shared/parameters.hpp"
#include "passes/time_tile/emit/planes.hpp"
#include "passes/time_tile/emit/writer.hpp"
#include "ptx/whole_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <utility>

namespace ptxasw::passes {

using ptx::Reg;
using ptx::Source;
using ptx::Special;
using namespace ptx::words;

StepWriter::StepWriter(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
                       std::string name)
    : StepFrame(kernel, plan, shape, std::move(name)), at_(plan, shape) {}

StepEntry StepWriter::run() {
  if (!at_.refused.empty()) return {.refused = at_.refused};
  if (at_.compact && !separable())
    return {.refused = {Reason::step_region, "its guards are not of one axis each"}};
  if (!separable() && all_bounds().size() > flag_bits())
    return {.refused = {Reason::step_rim, "its rim has too many cases"}};
  prologue();
  if (steps_alike()) {
    write_one_path();
  } else {
    if (plan_.convex) write_path(true);
    code_.label(labels_ + "rim");
    write_path(false);
  }
  finish();
  return std::move(entry_);
}

// --- Prologue -----------------------------------------------------------------------------------

void StepWriter::prologue() {
  code_.comment(fmt::format("ptxasw: {} steps at once", shape_.count));
  if (may_wait()) code_.griddepcontrol_wait(); // ahead of whatever touches memory
  body_.parameters(numbers_);
  if (plan_.rows) body_.set_row(code_.cvt(u32, u64, number(plan_.rows->length)));
  find_thread();
  for (unsigned axis = 0; axis < 3; ++axis)
    if (plan_.places[axis] != passes::Place::none) find_place(axis);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    find_elements(n);
  find_serialized_blocks();
  left_ = code_.ld(ptx::Space::param, u32, {threads_parameter, 12});
  if (plan_.convex) { // the region's corners tell of all of it
    StepBody::Place last = corner_;
    last[at_.axes.u] = plus(corner_[at_.axes.u], shape_.width - 1);
    if (at_.has_strips()) last[at_.axes.v] = plus(corner_[at_.axes.v], at_.height() - 1);
    Reg first_in = inside(corner_), last_in = inside(last);
    for (auto& [in, at] : {std::pair(&first_in, &corner_), std::pair(&last_in, &last)})
      for (const bool along_u : {true, false})
        *in = within(plan_.inner, *at, at_.axes.u, along_u, *in);
    inside_ = code_.and_(pred, first_in, last_in);
    code_.unless(inside_).bra(labels_ + "rim");
  }
}

// The thread's first place in the region, and where that lies in the tiles.
void StepWriter::find_thread() {
  Reg across, first; // of the thread's row, its first row in the tile
  thread_ = code_.special(Special::tid_x);
  if (at_.has_strips()) {
    across = code_.rem(u32, thread_, at_.across());
    strip_ = code_.div(u32, thread_, at_.across());
    first_row_ = code_.mul(u32, strip_, at_.rows());
    first = code_.mul(u32, strip_, at_.strip_rows());
  } else {
    across = code_.mov(u32, thread_);
    first_row_ = code_.mov(u32, 0);
    first = code_.mov(u32, 0);
  }
  column_ = code_.mul(u32, across, at_.columns());
  const Reg tile = code_.mov(u32, Source::address(tile_name));
  const Reg at = code_.mad(u32, first, at_.pitch, across);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const unsigned bytes = plan_.arrays[n].bytes;
    const Reg mine = code_.mad(u32, at, bytes, tile);
    mine_.push_back(
        plus(mine, at_.tiles[n] + (at_.pad_v.before * at_.pitch + at_.pad_u.before) * bytes));
  }
}

// The region's first place and this thread's own along an axis.
void StepWriter::find_place(unsigned axis) {
  const Reg block = code_.special(along(Special::ctaid_x, axis));
  limit_[axis] = code_.ld(ptx::Space::param, u32, {threads_parameter, 4 * axis});
  if (axis != at_.axes.u && axis != at_.axes.v) {
    corner_[axis] = place_[axis] = block;
    return;
  }
  const Margin& halo = axis == at_.axes.u ? at_.halo_u : at_.halo_v;
  const Reg first = code_.mul(u32, block, at_.centre(axis));
  corner_[axis] = plus(first, -static_cast<long>(halo.before));
  place_[axis] = code_.add(s32, corner_[axis], axis == at_.axes.u ? column_ : first_row_);
}

// Where this thread's elements begin, and how far it is from row to row.
void StepWriter::find_elements(unsigned n) {
  const StepArray& array = plan_.arrays[n];
  Reg offset = number(array.element.elsewhere());
  for (unsigned axis = 0; axis < 3; ++axis) {
    const IntegerPolynomial stride = array.element.along(axis);
    if (stride.is_zero()) continue;
    const Reg step = number(stride);
    if (axis == at_.axes.v) row_stride_.resize(n + 1, step);
    offset = code_.mad(s64, widened(place_[axis]), step, offset);
  }
  row_stride_.resize(n + 1);
  elements_.push_back(offset);
  find_begins(n);
  if (at_.columns() == 1) return;
  in_aligned_.push_back(is_aligned(n, in_.back()));
  out_aligned_.push_back(is_aligned(n, out_.back()));
}

// Arrays in rotation: the first one is the newer one, which stands second in contract::StepArrays.
void StepWriter::find_begins(unsigned n) {
  const StepArray& array = plan_.arrays[n];
  const unsigned place = array.carried ? 0 : 8;
  const auto own = [&](unsigned at) { return begin_at({arrays_parameter, at}); };
  in_.push_back(added(plan_.rotation ? own(place) : begin_of(array.in), elements_[n]));
  out_.push_back(added(plan_.rotation ? own(place + 16) : begin_of(array.out), elements_[n]));
}

// The program's own arrays, for the elements that nobody stores to.
void StepWriter::find_serialized_blocks() {
  turns_.clear();
  if (!plan_.rotation) return;
  const contract::Rotation& rotation = *plan_.rotation;
  for (const unsigned parameter : {rotation.old, rotation.now, rotation.next})
    turns_.push_back(added(begin_of(parameter), elements_[0]));
}

// Vectors may be loaded and stored from here on in each row: columns and halos are whole vectors.
Reg StepWriter::is_aligned(unsigned n, const Reg& address) {
  const Reg all = row_stride_[n].empty() ? address : code_.or_(b64, address, row_stride_[n]);
  const Reg low = code_.and_(b64, all, at_.vector(plan_.arrays[n]) * plan_.arrays[n].bytes - 1);
  return code_.setp(eq, s64, low, 0);
}

bool StepWriter::separable() const {
  return body_.separable(at_.axes.u) &&
         at_.columns() + static_cast<unsigned>(plan_.most[at_.axes.u] - plan_.least[at_.axes.u]) <=
             32;
}

// Of being inside what depends on the axis of neighbouring elements, or the rest.
Reg StepWriter::inside(const StepBody::Place& place, bool along_u) {
  Reg all = body_.guards(place, at_.axes.u, along_u);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (plan_.places[axis] != passes::Place::none && (axis == at_.axes.u) == along_u)
      all = in_grid(place, axis, all);
  return all;
}

// The place is in the grid, and its thread gets to the stores.
Reg StepWriter::inside(const StepBody::Place& place) {
  Reg all;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (plan_.places[axis] != passes::Place::none) all = in_grid(place, axis, all);
  return body_.guards(place, all);
}

Reg StepWriter::in_grid(const StepBody::Place& place, unsigned axis, const Reg& all) {
  return code_.setp(lt, u32, place[axis], limit_[axis], and_, all);
}

void StepWriter::finish() {
  entry_.text = whole_function(at_.block(), at_.shared());
  contract::Steps& made = entry_.contract = made_contract();
  made.block = {at_.block(), 1, 1};
  for (unsigned axis = 0; axis < 3; ++axis)
    made.covers[axis] = at_.centre(axis);
  made.is_told = true;
}

StepEntry write_steps(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
                      const std::string& name) {
  if (!plan.refused.empty()) return {.refused = plan.refused};
  for (const std::string_view taken :
       {StepWriter::threads_parameter, StepWriter::arrays_parameter, StepWriter::tile_name})
    if (ptx::stands_anywhere(*kernel.body.module, taken))
      return {.refused = {Reason::special_name, fmt::format("the module has a name {}", taken)}};
  const bool comes_round = plan.rotation ? shape.count % 3 == 0 : shape.count % 2 != 0;
  if (shape.rows * shape.columns > 64 || !comes_round || shape.count == 0 ||
      !std::has_single_bit(shape.columns) || shape.width % shape.columns != 0)
    return {.refused = {Reason::step_region, "no such shape"}};
  if (shape.planes != 0) return PlaneWriter(kernel, plan, shape, name).run();
  return StepWriter(kernel, plan, shape, name).run();
}

} // namespace ptxasw::passes
