// What has to hold of the sizes of a launch for a kernel to be a step. What concerns elements is in
// step_elements.cpp.
#include "passes/time_tile/step/step_conditions.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ptxasw::passes {

using contract::Expression;
using contract::Token;
using sym::Kind;
using sym::Term;

namespace {

constexpr Number most_blocks = 65535; // along y and z

} // namespace

StepSizes::StepSizes(emulator::Kernel& kernel, StepPlan& plan,
                     const IntegerPolynomialReader& reader)
    : c_(*kernel.context), plan_(plan), reader_(reader) {
  grid_ = whole_launch();
  if (plan_.rows) add_rows(*plan_.rows);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (plan_.walks[axis]) add_walk(axis, *plan_.walks[axis]);
  box_ = grid_;
}

// Whatever place a thread looks at, the last time one behind the end: it has a number below 2^31.
// Of places row by row ranges hold for all numbers (hold_for_all).
void StepSizes::add_walk(unsigned axis, const StepPlan::Walk& walk) {
  const Expression end = expression_of(walk.end), last = plus(end, threads(axis));
  require(minus(number(0x7fffffff), last), "an index wraps");
  Box looked_at = grid_;
  if (!plan_.rows) {
    looked_at[axis].end = last;
    grid_[axis].end = end;
  }
  for (const InRange& range : walk.ranges)
    require_in_range(looked_at, range, range.otherwise);
  if (!walk.alone) return;
  require(minus(number(1), threads(axis)), "several threads store to one element");
  require(minus(number(most_blocks), end), "it is too large");
}

// All places of all rows have a thread.
void StepSizes::add_rows(const StepRows& rows) {
  const Expression length = expression_of(rows.length), count = expression_of(rows.count);
  require(minus(length, number(1)), "it has no size");
  if (!plan_.walks[0])
    require(minus(threads(0), times(length, count)), "some rows have no threads");
  require(minus(number(1), threads(1)), "several threads store to one element");
  grid_[0].end = length;
  grid_[1].end = count;
}

void StepSizes::require(Expression value, std::string otherwise) {
  if (!always_holds(value)) plan_.conditions.push_back({std::move(value), std::move(otherwise)});
}

void StepSizes::require_in_range(const Box& box, const InRange& range,
                                 const std::string& otherwise) {
  if (!add_in_range(plan_.conditions, box, range.value, {range.least, range.most}, otherwise))
    plan_.refused = {Reason::step_index, "an index is no sum of coordinates"};
}

// --- Guards -------------------------------------------------------------------------------------

void StepSizes::add_guard(Term fact) {
  if (c_.kind(fact) == Kind::and_) {
    for (const Term part : c_.args(fact))
      add_guard(part);
    return;
  }
  if (!reader_.moves(fact)) { // the same for all places
    plan_.boxed = false;
    return;
  }
  const auto negated = c_.negated(fact);
  if (!add_comparison(negated.value_or(fact), !negated) && !add_bounds(fact)) plan_.convex = false;
}

// Not the first one of all, or not the last one.
bool StepSizes::add_bounds(Term fact) {
  auto ways = split(reader_, c_, fact, true);
  if (!ways || ways->empty() || (ways->size() != 1 && !plan_.rows)) return false;
  // Rows that are told by the numbers of threads: ways in which no place is, which is a condition.
  const auto impossible =
      std::stable_partition(ways->begin(), ways->end(), [&](const Bounded& one) {
        return ways->size() == 1 || usual_places(one) > 0;
      });
  if (impossible - ways->begin() != 1) return false;
  for (auto one = impossible; one != ways->end(); ++one)
    add_impossible(*one);
  const Bounded& way = (*ways)[0];
  if (way.of_places) return false;
  for (const InRange& range : way.ranges)
    if (!range.value.is_linear()) return false;
  for (const InRange& range : way.ranges)
    require_in_range(grid_, range, range.otherwise);
  const auto is_edge = [&](const Bound& bound) {
    return std::ranges::find(way.edges, bound, &Edge::bound) != way.edges.end();
  };
  for (const Bound& bound : way.bounds)
    if (!is_edge(bound)) narrow(box_, bound);
  edges_.insert(edges_.end(), way.edges.begin(), way.edges.end());
  return true;
}

// x != e, where e is no further inside than the last place of what all other guards leave: x < e.
void StepSizes::close_guards() {
  for (const Edge& edge : std::exchange(edges_, {})) {
    add_bounded({.bounds = {}, .edges = {edge}, .ranges = {}});
    narrow(box_, edge.bound);
  }
  around_ = box_;
}

void StepSizes::narrow(Box& box, const Bound& bound) const {
  Span& span = box[bound.axis];
  const Expression at = expression_of(bound.at);
  if (bound.below)
    span.end = smaller(std::move(span.end), at);
  else
    span.first = larger(std::move(span.first), at);
}

Box StepSizes::within(const Bounded& where) const {
  Box box = box_;
  for (const Bound& bound : where.bounds)
    narrow(box, bound);
  return box;
}

void StepSizes::add_bounded(const Bounded& where) {
  for (const InRange& range : where.ranges)
    require_in_range(box_, range, range.otherwise);
  for (const auto& [bound] : where.edges) {
    const Span& span = box_[bound.axis];
    const Expression at = expression_of(bound.at);
    // at >= end - 1, or at <= first + 1
    require(bound.below ? minus(plus(at, number(1)), span.end)
                        : minus(plus(span.first, number(1)), at),
            "a rim is no rim");
  }
}

void StepSizes::add_case(const AddressCase& one, const Bounded& where) {
  add_bounded(one.where);
  add_ranges(one.ranges, both(where, one.where));
}

void StepSizes::add_impossible(const Bounded& one, const Bounded& where) {
  add_bounded(one);
  require_none(both(where, one));
}

void StepSizes::add_ranges(const std::vector<InRange>& ranges, const Bounded& where) {
  const Box box = within(where);
  for (const InRange& range : ranges)
    require_in_range(box, range, range.otherwise);
}

void StepSizes::require_none(const Bounded& where) {
  const Box box = within(where);
  Expression empty;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (std::ranges::none_of(where.bounds, [&](const Bound& b) { return b.axis == axis; }))
      continue;
    Expression missing = minus(box[axis].first, box[axis].end);
    empty = empty.empty() ? std::move(missing) : larger(std::move(empty), missing);
  }
  require(empty.empty() ? number(-1) : std::move(empty), "a clamp acts");
}

void StepSizes::widen(unsigned axis, const Expression& first, const Expression& end) {
  if (!widened_[axis].insert(to_word(first) + " " + to_word(end)).second) return;
  around_[axis].first = smaller(std::move(around_[axis].first), first);
  around_[axis].end = larger(std::move(around_[axis].end), end);
}

void StepSizes::add_read(const Offset& offset, const Offset& turns, const Bounded& where) {
  const Box box = within(where);
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (offset[axis] == 0 && turns[axis] == 0) continue;
    Expression first = plus(box[axis].first, number(offset[axis])),
               end = plus(box[axis].end, number(offset[axis]));
    if (!plan_.periods[axis]) {
      widen(axis, first, end);
      continue;
    }
    const Expression size = expression_of(*plan_.periods[axis]);
    const Expression far = times(size, number(turns[axis]));
    require(plus(std::move(first), far), "it reads beside a torus");
    require(minus(size, plus(std::move(end), far)), "it reads beside a torus");
  }
}

// All that is stored and read lies in [0, period).
void StepSizes::add_period(unsigned axis, const IntegerPolynomial& period) {
  plan_.periods[axis] = period;
  const Expression size = expression_of(period);
  require(minus(size, number(1)), "it has no size");
  require(minus(number(0x3fffffff), size), "it is too large");
  require(box_[axis].first, "a place is outside");
  require(minus(size, box_[axis].end), "a place is outside");
  widen(axis, number(0), size);
}

std::optional<StepSizes::Coordinate> StepSizes::coordinate(Term t) const {
  Coordinate found;
  Reading reading;
  const auto whole = reader_.read(t, reading);
  if (!whole || !whole->is_linear()) return std::nullopt;
  found.ranges = std::move(reading.ranges);
  bool any = false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const IntegerPolynomial along = whole->along(axis);
    if (along.is_zero()) continue;
    if (std::exchange(any, true) || along != IntegerPolynomial(1)) return std::nullopt;
    found.axis = axis;
    found.offset = whole->elsewhere();
  }
  return any && std::ranges::all_of(found.ranges,
                                    [](const InRange& range) { return range.value.is_linear(); })
             ? std::optional(std::move(found))
             : std::nullopt;
}

// `a < b`, or not. With a coordinate on one side it is a bound of the box: that the coordinate's
// side does not wrap in the whole grid is required. An unsigned x + c < n holds exactly for
// 0 <= x + c < n, also where c is negative, as long as what wraps is not less than n.
bool StepSizes::add_comparison(Term t, bool holds) {
  const bool is_signed = c_.kind(t) == Kind::slt;
  if (!is_signed && c_.kind(t) != Kind::ult) return false;
  const Term a = c_.args(t)[0], b = c_.args(t)[1];
  const unsigned width = c_.width(a);
  const auto left = coordinate(a), right = coordinate(b);
  if (left.has_value() == right.has_value()) return false;
  const Coordinate& at = left ? *left : *right;
  const auto bound = reader_.machine(left ? b : a, is_signed);
  if (!bound) return false;
  Span& span = box_[at.axis];
  const IntegerPolynomial place =
      IntegerPolynomial(Quantity{.is_axis = true, .number = at.axis}) + at.offset;
  const Expression shift = expression_of(at.offset);
  const Number end = Number{1} << width;
  const std::string otherwise = "an index wraps";
  const bool from_above = left.has_value() == holds; // the coordinate is bounded from above
  for (const InRange& range : at.ranges)
    require_in_range(grid_, range, otherwise);
  if (is_signed) {
    require_in_range(grid_, {place, -end / 2, end / 2 - 1}, otherwise);
  } else if (from_above) {
    const Expression first = minus(number(0), shift);
    require(minus(number(end - 1), most_in(grid_, place)), otherwise);
    // 2^width + (0 + c) is above the bound, if c is negative
    require(minus(plus(number(end - 2), smaller(number(1), plus(shift, number(1)))), *bound),
            otherwise);
    span.first = larger(std::move(span.first), first);
  } else {
    require_in_range(grid_, {place, 0, end - 1}, otherwise);
  }
  if (from_above) {
    // x + c < bound, or x + c <= bound
    const Expression last = minus(*bound, shift);
    span.end = smaller(std::move(span.end), holds ? last : plus(last, number(1)));
  } else {
    // x + c >= bound, or x + c > bound
    const Expression first = minus(*bound, shift);
    span.first = larger(std::move(span.first), holds ? plus(first, number(1)) : first);
  }
  return true;
}

// --- Usual launches --------------------------------------------------------------------------

namespace {

constexpr std::array<std::uint64_t, 3> usual_sizes{100, 64, 37};
constexpr std::array<std::uint64_t, 3> many_rows{1U << 30, 1, 1}; // threads for all places

} // namespace

bool StepSizes::has_one_thread(unsigned axis) const {
  const auto& walk = plan_.walks[axis];
  return plan_.places[axis] == Place::none || (walk && walk->alone);
}

// With a grid that covers all. `threads`: asked for each axis that no guard bounds.
contract::Quantities
StepSizes::covering_launch(const std::function<std::uint64_t()>& threads) const {
  contract::Quantities launch;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const bool is_size = std::ranges::count(reader_.extents(), axis, &LaunchSize::axis) != 0,
               bounded = !is_size && box_[axis].end != grid_[axis].end;
    launch.threads[axis] = has_one_thread(axis) ? 1 : bounded ? std::uint64_t{1} << 20 : threads();
    launch.block[axis] = plan_.places[axis] == Place::thread ? launch.threads[axis] : 1;
  }
  if (plan_.rows) launch.threads = many_rows;
  for (const LaunchSize& extent : reader_.extents())
    if (const auto written = extent.is.constant()) // the other sides are mostly as long
      for (std::uint64_t& along : launch.threads)
        if (along != 1) along = static_cast<std::uint64_t>(*written);
  return launch;
}

// As many threads as places, if there may be no others.
void StepSizes::add_rows_of(contract::Quantities& launch) const {
  if (!plan_.rows || !plan_.rows->all) return;
  const auto all = evaluate(expression_of(plan_.rows->length * plan_.rows->count), launch);
  if (all && *all > 0) launch.threads[0] = static_cast<std::uint64_t>(*all);
}

// Below 0 where it ends before it begins.
std::optional<Number> StepSizes::usual_length(const Span& span, std::uint64_t size) const {
  contract::Quantities launch = covering_launch([size] { return size; });
  launch.parameter = [size](unsigned) -> std::optional<std::uint64_t> { return size; };
  add_rows_of(launch);
  const auto first = evaluate(span.first, launch), end = evaluate(span.end, launch);
  return first && end ? std::optional(*end - *first) : std::nullopt;
}

double StepSizes::usual_places(const Bounded& where) const {
  const Box box = within(where);
  double most = 0;
  for (const std::uint64_t size : usual_sizes) {
    double places = 1;
    for (const Span& span : box)
      if (const auto length = usual_length(span, size))
        places *= static_cast<double>(std::max<Number>(0, *length));
    most = std::max(most, places);
  }
  return most;
}

std::optional<unsigned> StepSizes::usual_width(unsigned axis, const Bounded& where) const {
  const Box box = within(where);
  std::optional<unsigned> width;
  for (const std::uint64_t size : usual_sizes) {
    const auto length = usual_length(box[axis], size);
    if (!length || *length < 0) return std::nullopt;
    const auto now = static_cast<unsigned>(*length);
    if (width && *width != now) return std::nullopt;
    width = now;
  }
  return width;
}

// Is there a launch for which the conditions hold? Only tried, and only so that a kernel that never
// can be a step is told so at once: what is said here decides nothing else.
bool StepSizes::can_hold(std::string& why) const {
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % n;
  };
  constexpr unsigned tries = 400;
  std::vector<unsigned> failed(plan_.conditions.size());
  for (unsigned n = 0; n < tries; ++n) {
    std::map<unsigned, std::uint64_t> values;
    constexpr std::array<std::uint64_t, 7> sizes{64, 66, 100, 100, 128, 1, 2};
    const std::uint64_t usual = sizes[random(4)];
    // Than a number in a guard.
    constexpr std::array<std::uint64_t, 4> large{1000, 1024, 2048, 4096};
    contract::Quantities launch = covering_launch([&] {
      return reader_.extents().empty() || random(2) == 0 ? sizes[random(sizes.size())]
                                                         : large[random(large.size())];
    });
    launch.parameter = [&](unsigned parameter) -> std::optional<std::uint64_t> {
      const auto [value, missing] = values.try_emplace(parameter, usual);
      if (missing && random(2) == 0)
        value->second = sizes[random(sizes.size())] * (random(4) == 0 ? 100 : 1);
      return value->second;
    };
    add_rows_of(launch);
    bool all = true;
    for (std::size_t i = 0; i < failed.size(); ++i) {
      const auto value = contract::evaluate(plan_.conditions[i].value, launch);
      if (value && *value >= 0) continue;
      all = false;
      ++failed[i];
    }
    if (all) return true;
  }
  const auto worst = std::ranges::max_element(failed);
  why = plan_.conditions[static_cast<std::size_t>(worst - failed.begin())].otherwise;
  return false;
}

} // namespace ptxasw::passes
