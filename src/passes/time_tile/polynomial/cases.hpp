// A read by cases: in the interior of the grid the neighbour, at the rim another element (a clamp,
// the other end of a torus, a load that a branch skips). Each case holds between bounds of single
// coordinates, and no two hold at one place.
//
// Cases are read off the conditions of the address's if-then-elses and of the branches in front of
// the load, as far as these are comparisons of one coordinate with what is the same for all.
#pragma once

#include "passes/time_tile/polynomial/polynomial_reader.hpp"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace ptxasw::passes {

// The coordinate is less than `at`, or not less. Of a place that stores.
struct Bound {
  unsigned axis = 0;
  bool below = false;
  IntegerPolynomial at;
  friend bool operator==(const Bound& a, const Bound& b) = default;
};

// x != e is a bound only where e is no further inside than the last place that stores, or the
// first: a condition on the launch.
struct Edge {
  Bound bound; // x < e, or x >= e + 1
};

// One way in which a condition holds.
struct Bounded {
  std::vector<Bound> bounds;
  std::vector<Edge> edges;
  std::vector<InRange> ranges; // have to hold at all places that store
  bool of_places = false;      // what is said of places that store is not true of other threads
};

// By axis the one coordinate that the bounds leave, where they do.
std::array<std::optional<IntegerPolynomial>, 3> pinned(const std::vector<Bound>& bounds);

// The same number at all places within the bounds, as far as these leave one coordinate of an axis.
bool agree(const IntegerPolynomial& a, const IntegerPolynomial& b,
           const std::vector<Bound>& bounds);

// Both hold.
Bounded both(const Bounded& a, const Bounded& b);

// All ways in which `condition` holds, or does not; none: it is not made of such comparisons, or of
// too many.
std::optional<std::vector<Bounded>> split(const IntegerPolynomialReader& reader,
                                          sym::Context& context, sym::Term condition, bool holds);

// Of (a | b) < 0, as compilers write a < 0 || b < 0, that; of & likewise. None: it is something
// else.
std::optional<sym::Term> signs_apart(sym::Context& context, sym::Term t);

// The number is what the machine has.
InRange in_type(IntegerPolynomial value, unsigned width, bool is_signed);

// a < b, signed or not, of 32 or 64 bits: what the machine compares where the ranges hold.
struct LessThan {
  IntegerPolynomial left, right;
  std::vector<InRange> ranges;
};
using ReadSide = std::function<std::optional<IntegerPolynomial>(sym::Term side, Reading& reading)>;
// None: it is no such comparison, or `read` knows no number for a side.
std::optional<LessThan> less_than(const sym::Context& context, sym::Term condition,
                                  const ReadSide& read);

struct AddressCase {
  IntegerPolynomialReader::Place place;
  Bounded where;
  std::vector<InRange> ranges; // have to hold at places within the bounds
};

// Of an address; none: it cannot be read in each case. `why`: in that case.
std::optional<std::vector<AddressCase>> read_cases(const IntegerPolynomialReader& reader,
                                                   sym::Context& context, sym::Term address,
                                                   const char*& why);

} // namespace ptxasw::passes
