// Which places of a region some stage stores, and whether the region has a rim.
#include "passes/time_tile/sequence/sequence_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

namespace {

Offset opposite(const Offset& offset) {
  return {-offset[0], -offset[1], -offset[2]};
}

} // namespace

Reg SequenceWriter::holds(Stage& stage, const Bound& bound, const Reg& coordinate) {
  return code_.setp(bound.below ? lt : ge, s64, code_.cvt(s64, s32, coordinate),
                    stage.numbers.number(bound.at));
}

// The bounds along an axis, and `all`; empty: nothing is asked.
Reg SequenceWriter::within(Stage& stage, unsigned axis, const Reg& coordinate, const Bounds& bounds,
                           Reg all) {
  for (const Bound& bound : bounds) {
    if (bound.axis != axis) continue;
    const Reg one = holds(stage, bound, coordinate);
    all = all.empty() ? one : code_.and_(pred, all, one);
  }
  return all;
}

// All that the stage asks of one coordinate of a place that stores, and the bounds.
Reg SequenceWriter::inside(Stage& stage, unsigned axis, const Reg& coordinate,
                           const Bounds& bounds) {
  StepBody::Place place = place_;
  place[axis] = coordinate;
  const Reg all = within(stage, axis, coordinate, bounds, stage.body.guards_of(place, 1U << axis));
  return code_.setp(lt, u32, coordinate, stage.limit[axis], and_, all);
}

bool SequenceWriter::is_separable(const Stage& stage) const {
  return stage.body.separable(0) && stage.body.separable(1);
}

void SequenceWriter::add_inside(const Reg& one) {
  inside_ = inside_.empty() ? one : code_.and_(pred, inside_, one);
}

// What the stage asks of all places alike; empty: nothing.
Reg SequenceWriter::guards_of_all(Stage& stage) {
  Reg all = stage.body.guards_of(place_, 0);
  const auto flat = flat_axis();
  const Reg more = flat ? stage.body.guards_of(place_, 1U << *flat) : Reg{};
  if (all.empty() || more.empty()) return all.empty() ? more : all;
  return code_.and_(pred, all, more);
}

// All places of the region store, and are in the interior: its corners tell.
void SequenceWriter::add_inside(Stage& stage) {
  const auto add_axis = [&](unsigned axis, unsigned size) {
    for (const Reg& at : {corner_[axis], plus(corner_[axis], size - 1L)})
      add_inside(inside(stage, axis, at, stage.found.plan.inner));
  };
  add_axis(at_.axes.u, shape_.width);
  if (at_.has_strips()) add_axis(at_.axes.v, at_.height());
  if (const Reg all = guards_of_all(stage); !all.empty()) add_inside(all);
}

// Whether that holds for each stage; of one that stores in few places, whether it stores nowhere in
// the region: all threads tell.
void SequenceWriter::find_inside() {
  if (std::ranges::all_of(stages_, &Stage::few)) return;
  Reg few;
  for (Stage& stage : stages_) {
    if (!stage.few) {
      add_inside(stage);
      continue;
    }
    const Reg stores = mask(stage, {}, {}, true);
    few = few.empty() ? stores : code_.or_(b32, few, stores);
  }
  if (!few.empty()) add_inside(code_.not_(pred, code_.bar_red_or(code_.setp(ne, u32, few, 0))));
  code_.unless(inside_).bra(labels_ + "rim");
}

// --- Tori ----------------------------------------------------------------------------------------

Reg SequenceWriter::coordinate(unsigned axis, long far) {
  const Reg at = plus(place_[axis], far);
  if (!is_around(axis)) return at;
  Reg& known = around_[{axis, far}];
  if (!known.empty()) return known;
  const auto& [stage, whole] = *plan_.periods.at(axis);
  const Reg size = code_.cvt(u32, u64, stages_[stage].numbers.number(whole)),
            rest = code_.rem(s32, at, size), above = code_.add(s32, rest, size);
  return known = code_.selp(b32, above, rest, code_.setp(lt, s32, rest, 0));
}

// Where the element of the place in the torus lies, by where that of the place would.
Reg SequenceWriter::turned(unsigned n, unsigned axis, long far, const Reg& at) {
  if (inner_ || !is_around(axis)) return at;
  const Reg next = plus(place_[axis], far), there = coordinate(axis, far),
            stride = stages_[plan_.stage_of(plan_.pointers[n].stage)].numbers.number(
                plan_.region.arrays[n].element.along(axis));
  return code_.mad(s64, code_.cvt(s64, s32, code_.sub(s32, there, next)), stride, at);
}

// And the place is the one in the torus.
Reg SequenceWriter::is_own(unsigned axis, long far, const Reg& all) {
  if (!is_around(axis)) return all;
  return code_.setp(eq, s32, coordinate(axis, far), plus(place_[axis], far), and_, all);
}

// --- Which places store --------------------------------------------------------------------------

Reg SequenceWriter::bit_of(const Reg& mask, unsigned row) {
  if (bit_.empty()) bit_ = code_.make(b32);
  return code_.setp(ne, u32, code_.into(bit_).and_(b32, mask, 1U << row), 0);
}

namespace {

std::string key_of(std::size_t stage, char axis, int away, const std::vector<Bound>& bounds,
                   bool stores) {
  std::string key = fmt::format("{}{}{}{}", stage, axis, away, stores);
  for (const Bound& bound : bounds)
    key += fmt::format(" {}{}{}", bound.axis, bound.below ? '<' : '>',
                       contract::to_word(expression_of(bound.at)));
  return key;
}

std::vector<Bound> along_axis(const std::vector<Bound>& bounds, unsigned axis) {
  std::vector<Bound> some;
  std::ranges::copy_if(bounds, std::back_inserter(some),
                       [&](const Bound& bound) { return bound.axis == axis; });
  return some;
}

} // namespace

// A predicate: the place so far along a row stores (if that is asked) and is within the bounds.
Reg SequenceWriter::column_in(Stage& stage, int away, const Bounds& bounds, bool stores) {
  const unsigned u = at_.axes.u;
  const Bounds own = along_axis(bounds, u);
  Reg& known = known_[key_of(number_of(stage), 'u', away, own, stores)];
  if (!known.empty()) return known;
  const Reg at = coordinate(u, away);
  if (stores) return known = inside(stage, u, at, own);
  const Reg all = within(stage, u, at, own, {});
  return known = all.empty() ? code_.setp(eq, u32, at, at) : all;
}

// A word with a bit for each of the thread's rows.
Reg SequenceWriter::rows_in(Stage& stage, int away, const Bounds& bounds, bool stores) {
  const auto all_rows = [&] { return code_.sub(u32, code_.shl(b32, one_, at_.rows()), one_); };
  if (!at_.has_strips()) return all_rows();
  const unsigned v = at_.axes.v;
  const Bounds own = along_axis(bounds, v);
  if (!stores && own.empty()) return all_rows();
  Reg& known = known_[key_of(number_of(stage), 'v', away, own, stores)];
  if (!known.empty()) return known;
  Reg bits = code_.mov(u32, 0);
  for (unsigned row = 0; row < at_.rows(); ++row) {
    const Reg at = coordinate(v, static_cast<long>(row) + away);
    const Reg in = stores ? inside(stage, v, at, own) : within(stage, v, at, own, {});
    bits = code_.or_(b32, bits, code_.selp(b32, code_.shl(b32, one_, row), 0, in));
  }
  return known = bits;
}

Reg SequenceWriter::mask(Stage& stage, const Offset& away, const Bounds& bounds, bool stores) {
  Reg& known = known_[fmt::format(
      "{} {}", key_of(number_of(stage), 'u', offset_u(away), bounds, stores), offset_v(away))];
  if (known.empty()) known = make_mask(stage, away, bounds, stores);
  return known;
}

Reg SequenceWriter::make_mask(Stage& stage, const Offset& away, const Bounds& bounds, bool stores) {
  if (stores && !is_separable(stage)) return mask_by_place(stage, away, bounds);
  const Reg rows = rows_in(stage, offset_v(away), bounds, stores);
  const Reg all = code_.selp(b32, rows, 0, column_in(stage, offset_u(away), bounds, stores));
  const Reg everywhere = stores ? guards_of_all(stage) : Reg{};
  return everywhere.empty() ? all : code_.selp(b32, all, 0, everywhere);
}

// Of guards that are not of one axis each: the kernel's own, at each of the thread's places.
Reg SequenceWriter::mask_by_place(Stage& stage, const Offset& away, const Bounds& bounds) {
  StepBody::Place place = place_;
  place[at_.axes.u] = coordinate(at_.axes.u, offset_u(away));
  Reg bits = code_.mov(u32, 0);
  for (unsigned row = 0; row < at_.rows(); ++row) {
    Reg all = code_.setp(lt, u32, place[at_.axes.u], stage.limit[at_.axes.u]);
    if (at_.has_strips()) {
      const unsigned v = at_.axes.v;
      place[v] = coordinate(v, static_cast<long>(row) + offset_v(away));
      all = code_.setp(lt, u32, place[v], stage.limit[v], and_, all);
      all = within(stage, v, place[v], bounds, all);
    }
    all = within(stage, at_.axes.u, place[at_.axes.u], bounds, all);
    all = stage.body.guards(place, all);
    bits = code_.or_(b32, bits, code_.selp(b32, code_.shl(b32, one_, row), 0, all));
  }
  return bits;
}

std::span<const StepArray::Load> SequenceWriter::loads_of(const Stage& stage, unsigned n) {
  const auto& arrays = stage.found.arrays;
  const auto found = std::ranges::find(arrays, n);
  if (found == arrays.end()) return {};
  return stage.found.plan.arrays[static_cast<std::size_t>(found - arrays.begin())].loads;
}

// Of an array that no place of the region stores to: the places that are read. The last ones of a
// region may be beside all that is.
Reg SequenceWriter::read_inside(unsigned n) {
  Reg all = code_.mov(u32, 0);
  for (Stage& stage : stages_) {
    if (stage.few) continue;
    for (const StepArray::Load& load : loads_of(stage, n))
      for (const StepArray::Case& one : load.cases)
        all = code_.or_(b32, all, mask(stage, opposite(one.offset), load.bounds_of(one), true));
  }
  return all;
}

// By array: places of which some stage stores the element, and those that are read or stored.
void SequenceWriter::find_masks() {
  const std::size_t count = plan_.region.arrays.size();
  stored_.clear();
  for (std::size_t n = 0; n < count; ++n)
    stored_.push_back(code_.mov(u32, 0));
  needed_ = stored_;
  const auto add = [&](Reg& to, const Reg& more) { to = code_.or_(b32, to, more); };
  for (Stage& stage : stages_) {
    stage.stores = mask(stage, {}, {}, true);
    for (std::size_t n = 0; n < stage.found.arrays.size(); ++n) {
      const StepArray& array = stage.found.plan.arrays[n];
      const unsigned whole = stage.found.arrays[n];
      if (!array.foreign) add(stored_[whole], stage.stores);
      for (const StepArray::Load& load : array.loads)
        for (const StepArray::Case& one : load.cases) {
          add(needed_[whole], mask(stage, opposite(one.offset), load.bounds_of(one), true));
          mask(stage, {}, one.bounds, false); // ahead of the loop, where it is asked for
        }
    }
  }
  for (std::size_t n = 0; n < count; ++n)
    add(needed_[n], stored_[n]);
}

} // namespace ptxasw::passes
