// Puts a coordinate where a number stands that it is.
#include "passes/time_tile/step/step_pins.hpp"

#include <algorithm>

namespace ptxasw::passes {

bool StepPins::any() const {
  return std::ranges::any_of(pinned_, [](const auto& at) { return at.has_value(); });
}

bool StepPins::leaves(const Offset& offset) const {
  return std::ranges::any_of(std::array{0U, 1U, 2U}, [&](unsigned axis) {
    return is_pinned(axis) && offset.at(axis) != 0;
  });
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
