// The frame of an entry that marches through planes: places, and which elements are loaded.
#include "passes/time_tile/emit/planes.hpp"

#include "contract/steps.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>

namespace ptxasw::passes {

using ptx::Reg;
using ptx::Source;
using ptx::Special;
using namespace ptx::words;

PlaneWriter::PlaneWriter(const emulator::Kernel& kernel, const StepPlan& plan,
                         const StepShape& shape, std::string name)
    : StepFrame(kernel, plan, shape, std::move(name)), at_(plan, shape), does_(shape.count + 1) {}

Why PlaneWriter::why_not() {
  if (!at_.refused.empty()) return at_.refused;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!body_.separable(axis))
      return {Reason::step_in_space,
              "its neighbours lie along three axes, and its guards are not of one axis each"};
  if (body_.has_uniform_loads() && (!plan_.boxed || !plan_.convex)) // perhaps nobody does them
    return {Reason::step_in_space,
            "its neighbours lie along three axes, and all load the same behind guards that are no "
            "bounds"};
  find_kinds();
  if (!std::ranges::all_of(kinds_,
                           [&](const Kind& kind) { return is_inside(kind) || is_outside(kind); }))
    return {Reason::step_in_space,
            "its neighbours lie along three axes, and at the rim it reads others"};
  return {};
}

// --- Planes of each kind ------------------------------------------------------------------------

std::size_t PlaneWriter::kind_of(const Bounds& bounds) {
  Kind kind;
  for (const Bound& bound : bounds)
    if (bound.axis == at_.w && std::ranges::find(kind.bounds, bound) == kind.bounds.end())
      kind.bounds.push_back(bound);
  const auto found = std::ranges::find(kinds_, kind.bounds, &Kind::bounds);
  if (found != kinds_.end()) return static_cast<std::size_t>(found - kinds_.begin());
  kinds_.push_back(std::move(kind));
  return kinds_.size() - 1;
}

// All planes of the interior are of the kind.
bool PlaneWriter::is_inside(const Kind& kind) const {
  return std::ranges::all_of(kind.bounds, [&](const Bound& bound) {
    return std::ranges::find(plan_.inner, bound) != plan_.inner.end();
  });
}

// None is.
bool PlaneWriter::is_outside(const Kind& kind) const {
  return std::ranges::any_of(kind.bounds, [&](Bound bound) {
    bound.below = !bound.below;
    return std::ranges::find(plan_.inner, bound) != plan_.inner.end();
  });
}

void PlaneWriter::find_kinds() {
  kinds_ = {{}};
  inner_ = kind_of(plan_.inner);
  for (const StepArray::Load& load : plan_.arrays[0].loads)
    for (const StepArray::Case& one : load.cases) {
      kind_of(load.bounds_of(one));
      if (&one != load.cases.data()) kind_of(one.bounds);
    }
}

StepEntry PlaneWriter::run() {
  if (Why why = why_not(); !why.empty()) return {.refused = std::move(why)};
  code_.comment(fmt::format("ptxasw: {} steps at once, plane by plane", shape_.count));
  if (may_wait()) code_.griddepcontrol_wait(); // ahead of whatever touches memory
  body_.parameters(numbers_);
  if (body_.has_uniform_loads()) body_.uniform_loads({}); // some place stores
  find_thread();
  find_places();
  find_stretch();
  find_elements();
  find_masks();
  find_first_planes();
  march();
  StepEntry entry;
  entry.text = whole_function(at_.block(), shape_.count * at_.slots * at_.tile_bytes());
  contract::Steps& made = entry.contract = made_contract();
  made.block = {at_.block(), 1, 1};
  made.covers[at_.u] = at_.centre_u();
  made.covers[at_.v] = at_.centre_v();
  made.covers[at_.w] = shape_.planes;
  made.is_told = true; // as it has the same parameter: T, and nothing else
  return entry;
}

// --- Places -------------------------------------------------------------------------------------

void PlaneWriter::find_thread() {
  const Reg thread = code_.special(Special::tid_x);
  lane_ = code_.and_(b32, thread, PlaneLayout::lanes - 1);
  strip_ = code_.shr(u32, thread, std::countr_zero(PlaneLayout::lanes));
  column_ = code_.mul(u32, lane_, at_.columns());
  first_row_ = code_.mul(u32, strip_, at_.rows());
  const Reg tile = code_.mov(u32, Source::address(tile_name));
  const auto strip_places =
      static_cast<unsigned>(at_.in_tile(0, static_cast<int>(at_.rows()))); // of a tile
  const Reg first = code_.mad(u32, strip_, strip_places, lane_);
  mine_ = plus(code_.mad(u32, first, bytes(), tile), at_.first_bytes());
}

void PlaneWriter::find_places() {
  for (unsigned axis = 0; axis < 3; ++axis)
    limit_[axis] = code_.ld(ptx::Space::param, u32, {threads_parameter, 4 * axis});
  const auto find = [&](unsigned axis, unsigned centre, unsigned halo, const Reg& own) {
    const Reg block = code_.special(along(Special::ctaid_x, axis));
    const Reg first = plus(code_.mul(u32, block, centre), -static_cast<long>(halo));
    place_[axis] = code_.add(s32, first, own);
  };
  find(at_.u, at_.centre_u(), at_.halo_u.before, column_);
  find(at_.v, at_.centre_v(), at_.halo_v.before, first_row_);
}

// The launch has so many blocks along w: the planes are divided evenly among them.
void PlaneWriter::find_stretch() {
  const unsigned beside = shape_.count * at_.far;
  const Reg block = code_.special(along(Special::ctaid_x, at_.w)),
            blocks = code_.special(along(Special::nctaid_x, at_.w));
  const Reg rounded = code_.sub(u32, code_.add(u32, limit_[at_.w], blocks), 1);
  const Reg planes = code_.div(u32, rounded, blocks);
  const Reg first = code_.mul(u32, block, planes);
  const Reg left = code_.sub(s32, limit_[at_.w], first);
  const Reg some = code_.min(s32, left, planes);
  const std::string go = label("go");
  code_.when(code_.setp(gt, s32, some, 0)).bra_uni(go);
  code_.ret();
  code_.label(go);
  positions_ = plus(some, 2L * beside);
  plane_ = place_[at_.w] = plus(first, -static_cast<long>(beside));
}

// Where this thread's elements begin, and how far it is from row to row and from plane to plane.
void PlaneWriter::find_elements() {
  const StepArray& array = plan_.arrays[0];
  Reg offset = number(array.element.elsewhere());
  for (const unsigned axis : {at_.u, at_.v, at_.w}) {
    const Reg stride = number(array.element.along(axis));
    if (axis == at_.v) row_stride_ = stride;
    if (axis == at_.w) plane_stride_ = stride;
    offset = code_.mad(s64, widened(place_[axis]), stride, offset);
  }
  in_ = added(begin_of(array.in), offset);
  const Reg out = added(begin_of(array.out), offset);
  const long behind = -static_cast<long>(shape_.count * at_.far);
  if (vector() > 1) {
    const Reg addresses = code_.or_(b64, in_, out),
              strides = code_.or_(b64, row_stride_, plane_stride_);
    const Reg low = code_.and_(b64, code_.or_(b64, addresses, strides), vector() * bytes() - 1);
    aligned_ = code_.setp(eq, s64, low, 0);
  }
  out_ = code_.mad(s64, plane_stride_, behind, out);
}

unsigned PlaneWriter::vector() const {
  return std::min({at_.columns(), 4U, 16 / bytes()});
}

// --- Which elements are needed ------------------------------------------------------------------

Reg PlaneWriter::inside(unsigned axis, const Reg& coordinate) {
  StepBody::Place place = place_;
  place[axis] = coordinate;
  const Reg guards = body_.guards_of(place, 1U << axis);
  return code_.setp(lt, u32, coordinate, limit_[axis], and_, guards);
}

unsigned PlaneWriter::full() const {
  return ~0U >> (32 - at_.places());
}

Reg PlaneWriter::bit_of(const Reg& mask, unsigned cell) {
  if (bit_.empty()) bit_ = code_.make(b32);
  return code_.setp(ne, u32, code_.into(bit_).and_(b32, mask, 1U << cell), 0);
}

// Of a place that has this coordinate.
Reg PlaneWriter::within_along(unsigned axis, const Reg& coordinate, const Bounds& bounds, Reg all) {
  StepBody::Place place;
  place[axis] = coordinate;
  return within(bounds, place, axis, true, std::move(all));
}

// The bits of the thread's places in the columns that this is true of.
Reg PlaneWriter::columns_where(const std::function<Reg(unsigned column)>& is) {
  Reg bits = code_.mov(u32, 0);
  for (unsigned column = 0; column < at_.columns(); ++column) {
    std::uint32_t all = 0;
    for (unsigned row = 0; row < at_.rows(); ++row)
      all |= 1U << (row * at_.columns() + column);
    bits = code_.or_(b32, bits, code_.selp(b32, all, 0, is(column)));
  }
  return bits;
}

Reg PlaneWriter::rows_where(const std::function<Reg(unsigned row)>& is) {
  Reg bits = code_.mov(u32, 0);
  for (unsigned row = 0; row < at_.rows(); ++row) {
    const std::uint32_t all = (~0U >> (32 - at_.columns())) << (row * at_.columns());
    bits = code_.or_(b32, bits, code_.selp(b32, all, 0, is(row)));
  }
  return bits;
}

// A place's bit is set if its column, so far from it, has places that store.
Reg PlaneWriter::columns_inside(int away, const Bounds& bounds) {
  return columns_where([&](unsigned column) {
    const Reg there = plus(place_[at_.u], static_cast<long>(column) + away);
    return within_along(at_.u, there, bounds, inside(at_.u, there));
  });
}

Reg PlaneWriter::rows_inside(int away, const Bounds& bounds) {
  return rows_where([&](unsigned row) {
    const Reg there = plus(place_[at_.v], static_cast<long>(row) + away);
    return within_along(at_.v, there, bounds, inside(at_.v, there));
  });
}

// Places that the centre hangs on behind a level: the centre, and what the steps that follow read
// around it. They are right.
Reg PlaneWriter::needed_behind(unsigned level) {
  const unsigned left = shape_.count - level;
  const auto within = [&](const Reg& first, unsigned n, const Margin& halo, const Margin& reach,
                          unsigned centre) {
    const long before = static_cast<long>(halo.before) - left * reach.before;
    return code_.setp(lt, u32, plus(first, static_cast<long>(n) - before),
                      centre + left * reach.both());
  };
  const Reg columns = columns_where([&](unsigned column) {
    return within(column_, column, at_.halo_u, at_.reach_u, at_.centre_u());
  });
  const Reg rows = rows_where([&](unsigned row) {
    return within(first_row_, row, at_.halo_v, at_.reach_v, at_.centre_v());
  });
  return code_.and_(b32, columns, rows);
}

// An element is read if a place at one of the offsets before it stores, within the bounds of that
// read: of each plane of readers a word of its own, as planes are known later.
void PlaneWriter::find_masks() {
  struct Lines { // columns or rows, so far away
    int away = 0;
    Bounds bounds;
    Reg mask;
  };
  std::vector<Lines> columns, rows;
  const auto known = [](std::vector<Lines>& all, unsigned axis, int away, const Bounds& bounds,
                        const auto& make) {
    Bounds its;
    std::ranges::copy_if(bounds, std::back_inserter(its),
                         [&](const Bound& bound) { return bound.axis == axis; });
    for (const Lines& one : all)
      if (one.away == away && one.bounds == its) return one.mask;
    all.push_back({away, its, make(its)});
    return all.back().mask;
  };
  const auto places = [&](int along_u, int along_v, const Bounds& bounds) {
    const Reg of_columns = known(columns, at_.u, along_u, bounds,
                                 [&](const Bounds& its) { return columns_inside(along_u, its); });
    const Reg of_rows = known(rows, at_.v, along_v, bounds,
                              [&](const Bounds& its) { return rows_inside(along_v, its); });
    return code_.and_(b32, of_columns, of_rows);
  };
  const auto find_ends = [&](const Bounds& bounds) { // ahead of the march
    for (const Bound& bound : bounds)
      end_of(bound);
  };
  find_ends(plan_.inner);
  // What depends on no axis is asked of all.
  const Reg everywhere = body_.guards_of(place_, 0);
  const auto if_at_all = [&](const Reg& mask) {
    return everywhere.empty() ? mask : code_.selp(b32, mask, 0, everywhere);
  };
  stores_ = if_at_all(places(0, 0, {}));
  if (!plan_.inner.empty())
    rim_ = code_.and_(b32, stores_, code_.not_(b32, places(0, 0, plan_.inner)));
  for (const StepArray::Load& load : plan_.arrays[0].loads)
    for (const StepArray::Case& one : load.cases) {
      const Bounds bounds = load.bounds_of(one);
      find_ends(bounds);
      const bool is_known = std::ranges::find(others_, one.bounds, &Other::bounds) != others_.end();
      if (&one != load.cases.data() && !is_known)
        others_.push_back({one.bounds, kind_of(one.bounds), places(0, 0, one.bounds)});
      const Reg mask = if_at_all(places(-one.offset[at_.u], -one.offset[at_.v], bounds));
      const int plane = -one.offset[at_.w];
      const std::size_t kind = kind_of(bounds);
      const auto found = std::ranges::find_if(readers_, [&](const Readers& readers) {
        return readers.plane == plane && readers.kind == kind;
      });
      if (found == readers_.end())
        readers_.push_back({plane, kind, mask});
      else
        found->mask = code_.or_(b32, found->mask, mask);
    }
  read_ = code_.mov(u32, 0);
  for (const Readers& readers : readers_)
    if (is_inside(kinds_[readers.kind])) read_ = code_.or_(b32, read_, readers.mask);
  kept_ = code_.and_(b32, read_, code_.not_(b32, stores_));
  for (unsigned level = 1; level <= shape_.count; ++level)
    if (level == shape_.count || body_.reads_others())
      does_[level] = code_.and_(b32, stores_, needed_behind(level));
}

// The planes around plane 0, which is loaded in front of the march. No level asks about planes
// before these.
void PlaneWriter::find_first_planes() {
  const int far = static_cast<int>(at_.far);
  for (Kind& kind : kinds_) {
    kind.seen = code_.mov(u32, ~0U << (2 * at_.far + 1));
    for (int away = -far; away <= far; ++away) {
      const Reg plane = plus(place_[at_.w], away);
      const Reg in = within_along(at_.w, plane, kind.bounds, inside(at_.w, plane));
      kind.seen = code_.or_(b32, kind.seen, code_.selp(b32, 1U << (far - away), 0, in));
    }
  }
  needed_ = readers(at_.far);
}

Reg PlaneWriter::where_seen(const Reg& mask, unsigned ago, std::size_t kind) {
  const Reg bit = code_.and_(b32, kinds_[kind].seen, 1U << ago);
  return code_.selp(b32, mask, 0, code_.setp(ne, u32, bit, 0));
}

// Elements of a plane, seen so long ago, that some place reads as it stores.
Reg PlaneWriter::readers(unsigned ago) {
  Reg all = code_.mov(u32, 0);
  for (const auto& [plane, kind, mask] : readers_) {
    const auto its = static_cast<unsigned>(static_cast<int>(ago) - plane);
    all = code_.or_(b32, all, where_seen(mask, its, kind));
  }
  return all;
}

std::string PlaneWriter::label(std::string_view what) {
  return fmt::format("{}{}{}", labels_, what, labels_made_++);
}

} // namespace ptxasw::passes
