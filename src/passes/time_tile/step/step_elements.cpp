// Elements of a step's places: how far one is from another, and where all of them lie.
#include "passes/time_tile/step/step_conditions.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using contract::Expression;
using contract::Token;

namespace {

// Axes by the length of a stride, the shortest first, as far as that can be told without numbers.
std::vector<unsigned> by_stride(const IntegerPolynomial& element) {
  std::vector<unsigned> axes;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!element.along(axis).is_zero()) axes.push_back(axis);
  const auto size = [&](unsigned axis) {
    std::pair<std::size_t, Number> largest{0, 0};
    const IntegerPolynomial stride = element.along(axis);
    for (const auto& [product, coefficient] : stride.terms())
      largest = std::max(largest, {product.size(), coefficient < 0 ? -coefficient : coefficient});
    return largest;
  };
  std::ranges::stable_sort(axes, {}, size);
  return axes;
}

// How often `by` goes into `what`: the quotient of the terms with the longest product of `by`; of
// constants the nearest.
std::optional<Number> times_in(const IntegerPolynomial& what, const IntegerPolynomial& by) {
  const auto leading =
      std::ranges::max_element(by.terms(), {}, [](const auto& term) { return term.first.size(); });
  const auto found = what.terms().find(leading->first);
  if (found == what.terms().end()) return 0;
  const Number a = found->second, b = leading->second;
  if (!leading->first.empty()) return a % b == 0 ? std::optional(a / b) : std::nullopt;
  const Number half = (b < 0 ? -b : b) / 2;
  return (a < 0 ? a - half : a + half) / b;
}

} // namespace

std::optional<Offset> offset_between(const IntegerPolynomial& load,
                                     const IntegerPolynomial& store) {
  IntegerPolynomial rest = load - store;
  Offset offset{};
  auto axes = by_stride(store);
  std::ranges::reverse(axes);
  for (const unsigned axis : axes) {
    const IntegerPolynomial stride = store.along(axis);
    const auto times_stride = times_in(rest, stride);
    if (!times_stride || *times_stride > 1000 || *times_stride < -1000) return std::nullopt;
    offset[axis] = static_cast<int>(*times_stride);
    rest = rest - stride * IntegerPolynomial(*times_stride);
  }
  if (!rest.is_zero()) return std::nullopt;
  return offset;
}

// What a place has in the array's buffer: fields that lie within a stride of one another are a
// structure, if constants tell.
std::vector<StepSizes::Structure> StepSizes::structures(const StepArray& array) const {
  std::optional<Number> room;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (const auto stride = array.element.along(axis).constant(); stride && *stride > 0)
      room = std::min(room.value_or(*stride), *stride);
  std::vector<Structure> all;
  const auto add_to = [&](Structure& one, const StepArray& field) {
    const auto from = (field.element - one.begin).constant();
    if (!from) return false;
    const Number first = std::min<Number>(*from, 0),
                 bytes = std::max(one.bytes, *from + field.bytes) - first;
    if (room && bytes > *room) return false;
    one = {one.begin + IntegerPolynomial(first), bytes};
    return true;
  };
  for (const StepArray& field : plan_.arrays)
    if (field.out == array.out &&
        std::ranges::none_of(all, [&](Structure& one) { return add_to(one, field); }))
      all.push_back({field.element, field.bytes});
  return all;
}

// No two elements of places that store or are read lie closer than an element. By strides s1 <= s2
// <= s3 and widths w of the box: s1 is at least an element, or a structure; s2 at least s1*(w1 - 1)
// and an element; and so on. Two places differ at last in some axis, by at least its stride there;
// all others together make up for less. Fields beside one another lie apart as all of that is wide.
void StepSizes::require_apart(const StepArray& array) {
  const std::vector<Structure> planes = structures(array);
  Expression room = number(std::ranges::max_element(planes, {}, &Structure::bytes)->bytes);
  std::size_t n = 0;
  for (const unsigned axis : by_stride(array.element)) {
    const Expression stride = expression_of(array.element.along(axis));
    require(minus(stride, room),
            n++ == 0 ? "elements lie too close" : "a row is too short for what is read beside it");
    const Expression steps = minus(minus(around_[axis].end, around_[axis].first), number(1));
    room = plus(std::move(room), times(stride, steps));
  }
  for (std::size_t a = 0; a < planes.size(); ++a)
    for (std::size_t b = a + 1; b < planes.size(); ++b) {
      const IntegerPolynomial far = planes[b].begin - planes[a].begin;
      require(minus(larger(expression_of(far), expression_of(IntegerPolynomial(0) - far)), room),
              "fields lie too close");
    }
}

// Those of the box: what the guards leave of it, if that is less, is not told here.
contract::Elements StepSizes::stored(const StepArray& array) const {
  contract::Elements all{
      .bytes = array.bytes, .begin = expression_of(array.element.elsewhere()), .along = {}};
  for (unsigned axis = 0; axis < 3; ++axis) {
    const IntegerPolynomial along = array.element.along(axis);
    if (along.is_zero()) continue;
    const Expression stride = expression_of(along);
    all.begin = plus(std::move(all.begin), times(stride, box_[axis].first));
    all.along.push_back({stride, minus(box_[axis].end, box_[axis].first)});
  }
  return all;
}

void StepSizes::touch(unsigned parameter, bool written, const Box& box,
                      const IntegerPolynomial& offset, unsigned bytes) {
  plan_.touched.push_back(
      {parameter, written, least_in(box, offset), plus(most_in(box, offset), number(bytes))});
}

void StepSizes::add_load(const IntegerPolynomialReader::Place& place, unsigned bytes,
                         const Bounded& where) {
  touch(place.parameter, false, within(where), place.offset, bytes);
}

void StepSizes::add_buffer(const StepArray& array) {
  require_apart(array);
  for (const Structure& one : structures(array)) {
    const auto bytes = static_cast<unsigned>(one.bytes);
    touch(array.in, !array.foreign, around_, one.begin, bytes);
    if (!array.carried && array.out != array.in) touch(array.out, true, around_, one.begin, bytes);
  }
}

void StepSizes::finish() {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Expression size{{.kind = Token::Kind::block, .value = axis}};
    const bool used = std::ranges::any_of(
        plan_.arrays, [&](const StepArray& array) { return !array.element.along(axis).is_zero(); });
    const bool by_all = std::ranges::none_of(
        plan_.arrays, [&](const StepArray& array) { return array.element.along(axis).is_zero(); });
    if (used && !by_all) {
      plan_.refused = {Reason::step_several_arrays, "its arrays have different dimensions"};
      return;
    }
    if (!used && plan_.walks[axis]) {
      plan_.refused = {Reason::step_loop, "an element is stored to again and again"};
      return;
    }
    if (!used)
      require(minus(number(1), threads(axis)), "several threads store to one element");
    else if (plan_.places[axis] == Place::block)
      require(minus(number(1), size), "several threads store to one element");
    else if (plan_.places[axis] == Place::thread)
      require(minus(size, threads(axis)), "several threads store to one element");
    require(minus(minus(box_[axis].end, box_[axis].first), number(1)), "nothing is stored");
  }
  for (const StepArray& array : plan_.arrays)
    if (plan_.is_first_field(array)) add_buffer(array);
  if (plan_.arrays.size() == 1) plan_.stored = stored(plan_.arrays[0]);
  plan_.box = box_;
  plan_.around = around_;
  std::ranges::sort(plan_.conditions, {}, [](const contract::Condition& condition) {
    return std::pair(to_word(condition.value), condition.otherwise);
  });
  auto& all = plan_.conditions;
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string why;
  if (!can_hold(why))
    plan_.refused = {why.starts_with("a row") ? Reason::step_short_row : Reason::step_rim, why};
}

} // namespace ptxasw::passes
