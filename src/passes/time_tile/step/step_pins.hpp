// Guards that leave one coordinate alone.
//
//     if (x == at && y == at) a[y * n + x] += push;
//
// Where the guard holds x is `at`, and compilers compute the element by `at`. Which places of the
// array it is one of tells the element that other stages have at a place: at places that store the
// two are the same number.
#pragma once

#include "passes/time_tile/step/step.hpp"

#include <array>
#include <map>
#include <optional>
#include <utility>

namespace ptxasw::passes {

class StepPins {
public:
  // By parameter the element of the array behind it.
  using Elements = std::map<unsigned, IntegerPolynomial>;

  StepPins() = default;
  // `guards`: hold at all places that store.
  StepPins(const std::vector<Bound>& guards, Elements elements)
      : pinned_(pinned(guards)), elements_(std::move(elements)) {}

  [[nodiscard]] bool any() const;
  [[nodiscard]] bool is_pinned(unsigned axis) const { return pinned_.at(axis).has_value(); }
  [[nodiscard]] const std::array<std::optional<IntegerPolynomial>, 3>& all() const {
    return pinned_;
  }
  // No place that stores is so far from one that does.
  [[nodiscard]] bool leaves(const Offset& offset) const;
  // The same number at all places that store, by the coordinates that it was computed without.
  [[nodiscard]] IntegerPolynomial by_place(unsigned parameter,
                                           const IntegerPolynomial& offset) const;

private:
  std::array<std::optional<IntegerPolynomial>, 3> pinned_; // by axis: where
  Elements elements_;
};

} // namespace ptxasw::passes
