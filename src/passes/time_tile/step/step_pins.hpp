// Guards that leave one coordinate alone, or every other place.
//
//     if (x == at && y == at) a[y * n + x] += push;
//     if ((x + y) % 2 == colour) a[y * n + x] = f(a[y * n + x - 1], a[y * n + x + 1]);
//
// Where the first one holds x is `at`, and compilers compute the element by `at`. Which places of
// the array it is one of tells the element that other stages have at a place: at places that store
// the two are the same number. Where the second one holds it does not for neighbours.
#pragma once

#include "passes/time_tile/step/step.hpp"

#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::passes {

// A guard holds for even sums of these coordinates, or for odd ones.
using Colour = std::array<bool, 3>;

// That the fact says, for each of its parts. `axes`: the atoms of coordinates.
void add_colours(sym::Context& context, sym::Term fact,
                 const std::unordered_map<std::uint32_t, unsigned>& axes,
                 std::vector<Colour>& colours);

class StepPins {
public:
  // By parameter the element of the array behind it.
  using Elements = std::map<unsigned, IntegerPolynomial>;

  StepPins() = default;
  // `guards`: hold at all places that store.
  StepPins(const std::vector<Bound>& guards, std::vector<Colour> colours, Elements elements)
      : pinned_(pinned(guards)), colours_(std::move(colours)), elements_(std::move(elements)) {}

  [[nodiscard]] bool any() const;
  [[nodiscard]] bool is_pinned(unsigned axis) const { return pinned_.at(axis).has_value(); }
  [[nodiscard]] const std::array<std::optional<IntegerPolynomial>, 3>& all() const {
    return pinned_;
  }
  [[nodiscard]] bool has_colours() const { return !colours_.empty(); }
  // No place that stores is so far from one that does.
  [[nodiscard]] bool leaves(const Offset& offset) const;
  // The same number at all places that store, by the coordinates that it was computed without.
  [[nodiscard]] IntegerPolynomial by_place(unsigned parameter,
                                           const IntegerPolynomial& offset) const;

private:
  std::array<std::optional<IntegerPolynomial>, 3> pinned_; // by axis: where
  std::vector<Colour> colours_;
  Elements elements_;
};

} // namespace ptxasw::passes
