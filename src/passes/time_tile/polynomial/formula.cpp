// Takes conjunctions apart, tries one side of each disjunction after the other, and compares
// bounds.
#include "passes/time_tile/polynomial/formula.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace ptxasw::passes {
namespace {

using Sum = IntegerPolynomial::Terms; // no constant, its first term positive

Number common_divisor(Number a, Number b) {
  while (b != 0)
    a = std::exchange(b, a % b);
  return a < 0 ? -a : a;
}

// Of a sum: the least and the largest value that is left.
class SumBounds {
public:
  // value >= 0; false: nothing is left.
  bool add(const IntegerPolynomial& value) {
    Sum sum = value.terms();
    Number constant = 0;
    if (const auto found = sum.find({}); found != sum.end()) {
      constant = found->second;
      sum.erase(found);
    }
    if (sum.empty()) return constant >= 0;
    const bool up = sum.begin()->second > 0; // sum >= -constant; or else -sum >= -constant
    if (!up)
      for (auto& [product, coefficient] : sum)
        coefficient = -coefficient;
    auto& [least, most] = bounds_[std::move(sum)];
    if (up)
      least = least ? std::max(*least, -constant) : -constant;
    else
      most = most ? std::min(*most, constant) : constant;
    return !least || !most || *least <= *most;
  }

private:
  std::map<Sum, std::pair<std::optional<Number>, std::optional<Number>>> bounds_;
};

class Search {
public:
  explicit Search(unsigned& steps) : steps_(steps) {}

  // Nothing satisfies what is bounded and open.
  bool excludes(SumBounds bounds, std::vector<const Formula*> open) {
    std::vector<const Formula*> choices;
    while (!open.empty()) {
      if (steps_ == 0) return false;
      --steps_;
      const Formula& next = *open.back();
      open.pop_back();
      switch (next.kind) {
      case Formula::Kind::always: break;
      case Formula::Kind::never: return true;
      case Formula::Kind::not_negative:
        if (!bounds.add(next.value)) return true;
        break;
      case Formula::Kind::all:
        for (const Formula& part : next.parts)
          open.push_back(&part);
        break;
      case Formula::Kind::any: choices.push_back(&next); break;
      }
    }
    if (choices.empty()) return false;
    const Formula& choice = *choices.back();
    choices.pop_back();
    return std::ranges::all_of(choice.parts, [&](const Formula& part) {
      std::vector<const Formula*> rest = choices;
      rest.push_back(&part);
      return excludes(bounds, std::move(rest));
    });
  }

private:
  unsigned& steps_;
};

Formula joined(std::vector<Formula> parts, Formula::Kind kind) {
  const bool is_all = kind == Formula::Kind::all;
  const Formula::Kind neutral = is_all ? Formula::Kind::always : Formula::Kind::never,
                      deciding = is_all ? Formula::Kind::never : Formula::Kind::always;
  std::erase_if(parts, [&](const Formula& part) { return part.kind == neutral; });
  if (std::ranges::any_of(parts, [&](const Formula& part) { return part.kind == deciding; }))
    return {.kind = deciding, .value = {}, .parts = {}};
  if (parts.empty()) return {.kind = neutral, .value = {}, .parts = {}};
  if (parts.size() == 1) return std::move(parts[0]);
  return {.kind = kind, .value = {}, .parts = std::move(parts)};
}

} // namespace

Formula always(bool holds) {
  return {.kind = holds ? Formula::Kind::always : Formula::Kind::never, .value = {}, .parts = {}};
}

// 16 * sum - 1 >= 0 is sum - 1 >= 0: a multiple that is large enough is at least the next one.
Formula not_negative(IntegerPolynomial value) {
  if (const auto constant = value.constant()) return always(*constant >= 0);
  Number common = 0, constant = 0;
  for (const auto& [product, coefficient] : value.terms())
    if (product.empty())
      constant = coefficient;
    else
      common = common_divisor(common, coefficient);
  const Number rounded_down = constant / common - (constant % common < 0 ? 1 : 0);
  if (const auto sum = quotient(value - IntegerPolynomial(constant), IntegerPolynomial(common)))
    value = *sum + IntegerPolynomial(rounded_down);
  return {.kind = Formula::Kind::not_negative, .value = std::move(value), .parts = {}};
}

Formula is_zero(const IntegerPolynomial& value) {
  return all_of({not_negative(value), not_negative(IntegerPolynomial(0) - value)});
}

Formula all_of(std::vector<Formula> parts) {
  return joined(std::move(parts), Formula::Kind::all);
}

Formula any_of(std::vector<Formula> parts) {
  return joined(std::move(parts), Formula::Kind::any);
}

// not (a >= 0) is -a - 1 >= 0.
Formula not_(const Formula& formula) {
  if (formula.kind == Formula::Kind::always) return always(false);
  if (formula.kind == Formula::Kind::never) return always(true);
  if (formula.kind == Formula::Kind::not_negative)
    return not_negative(IntegerPolynomial(-1) - formula.value);
  std::vector<Formula> parts;
  for (const Formula& part : formula.parts)
    parts.push_back(not_(part));
  return formula.kind == Formula::Kind::all ? any_of(std::move(parts)) : all_of(std::move(parts));
}

IntegerPolynomial moved_by(const IntegerPolynomial& value, const std::array<Number, 3>& by) {
  IntegerPolynomial moved = value;
  for (unsigned axis = 0; axis < 3; ++axis)
    moved = moved + value.along(axis) * IntegerPolynomial(by[axis]);
  return moved;
}

Formula moved_by(const Formula& formula, const std::array<Number, 3>& by) {
  if (formula.kind == Formula::Kind::not_negative) return not_negative(moved_by(formula.value, by));
  Formula moved{.kind = formula.kind, .value = {}, .parts = {}};
  for (const Formula& part : formula.parts)
    moved.parts.push_back(moved_by(part, by));
  return moved;
}

bool is_contradiction(std::vector<const Formula*> all, unsigned& steps) {
  return Search(steps).excludes({}, std::move(all));
}

} // namespace ptxasw::passes
