// Compares numbers of which the difference is the same for all threads.
#include "passes/time_tile/step/loop_places.hpp"

#include "passes/time_tile/polynomial/cases.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"
#include "passes/time_tile/step/step_axes.hpp"
#include "passes/time_tile/step/step_rows.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using sym::Kind;
using sym::Term;

LoopPlaces::LoopPlaces(emulator::Kernel& kernel) : c_(*kernel.context), places_(kernel) {
  find(kernel);
}

void LoopPlaces::find(emulator::Kernel& kernel) {
  Meaning meaning;
  FoundAxes axes = find_axes(kernel, {}, meaning, places_);
  if (!axes.refused.empty()) return;
  known_ = std::move(axes.shape);
  if (axes.places == std::array{Place::threads, Place::none, Place::none}) {
    const StepRegion region = find_region(kernel);
    auto found = region.refused.empty() ? find_rows(kernel, region, meaning, places_)
                                        : std::optional<FoundRows>{};
    if (found) {
      known_.push_back({minus(expression_of(found->rows.length), number(1)), "it has no size"});
      return void(reader_.emplace(kernel, meaning, std::move(found->rows.length)));
    }
  }
  reader_.emplace(kernel, meaning);
}

std::optional<LoopPlaces::Decided> LoopPlaces::decide(Term condition) const {
  if (!reader_) return std::nullopt;
  if (const auto negated = c_.negated(condition)) {
    auto other = decide(*negated);
    if (other) other->holds = !other->holds;
    return other;
  }
  const auto compared = less_than(c_, condition, [&](Term side, Reading& reading) {
    return reader_->read(places_.at(side, 0), reading);
  });
  if (!compared) return std::nullopt;
  const auto difference = (compared->left - compared->right).constant();
  if (!difference) return std::nullopt;
  Decided decided{.holds = *difference < 0, .conditions = known_};
  for (const InRange& range : compared->ranges)
    if (!add_for_all(decided.conditions, range)) return std::nullopt;
  return decided;
}

// Of a thread's number, its row, or its place in that, all of them less than there are threads, and
// a little more or less.
bool LoopPlaces::add_for_all(std::vector<contract::Condition>& conditions,
                             const InRange& range) const {
  const auto require = [&](contract::Expression value) {
    add_once(conditions, {std::move(value), range.otherwise});
  };
  for (unsigned axis = 0; axis < 3; ++axis)
    for (const IntegerPolynomial& place :
         {reader_->thread(axis), IntegerPolynomial::coordinate(axis)}) {
      const auto far = (range.value - place).constant();
      if (!far) continue;
      if (*far < range.least) return false;
      const unsigned along = reader_->row() ? 0 : axis;
      require(minus(number(range.most - *far + 1), threads(along)));
      return true;
    }
  return false;
}

} // namespace ptxasw::passes
