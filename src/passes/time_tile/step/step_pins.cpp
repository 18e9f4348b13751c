// Puts a coordinate where a number stands that it is.
#include "passes/time_tile/step/step_pins.hpp"

#include <algorithm>

namespace ptxasw::passes {

bool StepPins::any() const {
  return std::ranges::any_of(pinned_, [](const auto& at) { return at.has_value(); });
}

bool StepPins::leaves(const Offset& offset) const {
  const std::array axes{0U, 1U, 2U};
  const auto is_other = [&](const Colour& colour) {
    return std::ranges::count_if(
               axes, [&](unsigned axis) { return colour.at(axis) && offset.at(axis) % 2 != 0; }) %
               2 !=
           0;
  };
  return std::ranges::any_of(colours_, is_other) || std::ranges::any_of(axes, [&](unsigned axis) {
           return is_pinned(axis) && offset.at(axis) != 0;
         });
}

namespace {

// The lowest bit of a number is the sum, modulo 2, of such bits of coordinates and of something
// that is the same for all.
std::optional<Colour> colour_of(sym::Context& c, sym::Term bit,
                                const std::unordered_map<std::uint32_t, unsigned>& axes) {
  const bool is_sum = c.kind(bit) == sym::Kind::xor_ || c.kind(bit) == sym::Kind::poly;
  if (c.kind(bit) == sym::Kind::poly)
    for (const sym::Monomial& one : c.poly(bit).terms)
      if (one.factors.size() != 1) return std::nullopt;
  Colour made{};
  for (const sym::Term part :
       is_sum ? std::vector(c.args(bit).begin(), c.args(bit).end()) : std::vector{bit}) {
    const bool is_lowest = c.kind(part) == sym::Kind::extract && c.low(part) == 0;
    const auto axis = axes.find(is_lowest ? c.args(part)[0].id : part.id);
    if (axis != axes.end())
      made.at(axis->second) = !made.at(axis->second);
    else if (c.uniformity(part) != sym::Uniformity::grid)
      return std::nullopt;
  }
  return made;
}

} // namespace

void add_colours(sym::Context& c, sym::Term fact,
                 const std::unordered_map<std::uint32_t, unsigned>& axes,
                 std::vector<Colour>& colours) {
  if (c.kind(fact) == sym::Kind::and_) {
    for (const sym::Term part : std::vector(c.args(fact).begin(), c.args(fact).end()))
      add_colours(c, part, axes, colours);
    return;
  }
  sym::Term bit = c.negated(fact).value_or(fact);
  if (c.kind(fact) == sym::Kind::eq) { // then the lowest bits are equal, too
    const sym::Term difference = c.sub(c.args(fact)[0], c.args(fact)[1]);
    bit = c.width(difference) == 1 ? difference : c.extract(difference, 0, 1);
  }
  if (const auto colour = colour_of(c, bit, axes); colour && *colour != Colour{})
    colours.push_back(*colour);
}

IntegerPolynomial StepPins::by_place(unsigned parameter, const IntegerPolynomial& offset) const {
  const auto known = elements_.find(parameter);
  if (known == elements_.end()) return offset;
  IntegerPolynomial made = offset;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (pinned_[axis] && offset.along(axis).is_zero())
      made =
          made + known->second.along(axis) * (IntegerPolynomial::coordinate(axis) - *pinned_[axis]);
  return made;
}

} // namespace ptxasw::passes
