// Puts a coordinate where a number stands that it is.
#include "passes/time_tile/step/step_pins.hpp"

#include "symbolic/solver.hpp"

#include <algorithm>
#include <set>

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

using sym::Kind;
using sym::Term;
using Axes = std::unordered_map<std::uint32_t, unsigned>;

// A condition, or that it does not hold.
using Literal = std::pair<Term, bool>;
using Path = std::vector<Literal>; // all of them

// All ways in which a fact holds, or does not.
std::optional<std::vector<Path>> paths_of(sym::Context& c, Term t, bool holds) {
  constexpr std::size_t most_paths = 16;
  if (const auto inner = c.negated(t)) return paths_of(c, *inner, !holds);
  if (c.kind(t) != Kind::and_ && c.kind(t) != Kind::or_) return std::vector<Path>{{{t, holds}}};
  const bool is_all = (c.kind(t) == Kind::and_) == holds;
  std::vector<Path> all;
  if (is_all) all.emplace_back();
  for (const Term part : std::vector(c.args(t).begin(), c.args(t).end())) {
    const auto own = paths_of(c, part, holds);
    if (!own || own->size() * std::max<std::size_t>(1, all.size()) > most_paths)
      return std::nullopt;
    std::vector<Path> made = is_all ? std::vector<Path>{} : std::exchange(all, {});
    for (const Path& way : *own) {
      if (!is_all) made.push_back(way);
      for (const Path& before : all) {
        made.push_back(before);
        made.back().insert(made.back().end(), way.begin(), way.end());
      }
    }
    all = std::move(made);
  }
  return all;
}

// The sum of the lowest bits of coordinates and of what is the same for all is odd, or even.
struct Parity {
  Colour axes{};
  std::set<std::uint32_t> others;
  bool odd = false;
};

// Of a bit that is such a sum, modulo 2.
std::optional<Parity> parity_of(sym::Context& c, Term bit, const Axes& axes, bool odd) {
  Parity made{.axes = {}, .others = {}, .odd = odd};
  if (c.kind(bit) == Kind::poly) {
    const sym::Poly poly = c.poly(bit);
    for (const sym::Monomial& one : poly.terms)
      if (one.factors.size() != 1) return std::nullopt;
    made.odd = odd != ((poly.constant & 1) != 0);
  }
  const bool is_sum = c.kind(bit) == Kind::xor_ || c.kind(bit) == Kind::poly;
  for (const Term part :
       is_sum ? std::vector(c.args(bit).begin(), c.args(bit).end()) : std::vector{bit}) {
    const bool is_lowest = c.kind(part) == Kind::extract && c.low(part) == 0;
    const auto axis = axes.find(is_lowest ? c.args(part)[0].id : part.id);
    if (axis != axes.end())
      made.axes.at(axis->second) = !made.axes.at(axis->second);
    else if (c.uniformity(part) != sym::Uniformity::grid)
      return std::nullopt;
    else if (!made.others.insert(part.id).second)
      made.others.erase(part.id);
  }
  return made;
}

std::optional<Parity> parity_of(sym::Context& c, const Literal& literal, const Axes& axes) {
  const auto [t, holds] = literal;
  if (c.kind(t) != Kind::eq) return parity_of(c, t, axes, holds);
  const Term difference = c.sub(c.args(t)[0], c.args(t)[1]);
  const Term bit = c.width(difference) == 1 ? difference : c.extract(difference, 0, 1);
  auto made = parity_of(c, bit, axes, !holds); // of what is equal the lowest bits are, too
  if (holds || !made || made->axes == Colour{}) return made;
  // Of what is not equal these differ where both numbers are 0 or 1, as rests of 2.
  const bool differs = sym::Solver(c).prove({}, c.or_(t, bit)).verdict == sym::Verdict::proved;
  return differs ? made : std::nullopt;
}

// Of what is the same for all one way says something that the other one excludes.
bool exclude(const sym::Context& c, const Path& a, const Path& b) {
  const auto differ = [&](Term one, Term other) { // as constants
    const auto first = c.value(one), second = c.value(other);
    return first && second && *first != *second;
  };
  for (const auto& [one, holds] : a)
    for (const auto& [other, also] : b) {
      if (c.uniformity(one) != sym::Uniformity::grid) continue;
      if (one == other && holds != also) return true;
      if (c.kind(one) != Kind::eq || c.kind(other) != Kind::eq || !holds || !also) continue;
      for (const unsigned n : {0U, 1U})
        for (const unsigned m : {0U, 1U})
          if (c.args(one)[n] == c.args(other)[m] &&
              differ(c.args(one)[1 - n], c.args(other)[1 - m]))
            return true;
    }
  return false;
}

// Whatever two places store, each in some way, the sums of these coordinates are both even or both
// odd.
bool is_colour(const sym::Context& c, const Colour& axes, const std::vector<Path>& ways,
               const std::vector<std::vector<Parity>>& parities) {
  std::vector<const Parity*> own;
  for (const std::vector<Parity>& all : parities) {
    const auto found = std::ranges::find(all, axes, &Parity::axes);
    if (found == all.end()) return false;
    own.push_back(&*found);
  }
  for (std::size_t n = 0; n < own.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if ((own[n]->others != own[m]->others || own[n]->odd != own[m]->odd) &&
          !exclude(c, ways[n], ways[m]))
        return false;
  return true;
}

} // namespace

void add_colours(sym::Context& c, Term fact, const Axes& axes, std::vector<Colour>& colours) {
  if (c.kind(fact) == Kind::and_) {
    for (const Term part : std::vector(c.args(fact).begin(), c.args(fact).end()))
      add_colours(c, part, axes, colours);
    return;
  }
  const auto ways = paths_of(c, fact, true);
  if (!ways || ways->empty()) return;
  std::vector<std::vector<Parity>> parities;
  for (const Path& way : *ways) {
    std::vector<Parity>& own = parities.emplace_back();
    for (const Literal& literal : way)
      if (auto parity = parity_of(c, literal, axes)) own.push_back(*std::move(parity));
  }
  for (const Parity& one : parities[0])
    if (one.axes != Colour{} && is_colour(c, one.axes, *ways, parities))
      colours.push_back(one.axes);
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
