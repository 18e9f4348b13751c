// Is S(x + N) = D(x), and which index checks does that rest on?
#pragma once

#include "emulator/emulate.hpp"
#include "symbolic/solver.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::passes {

// ext(index + n*unit + k) = ext(index) + n*ext(unit) + k for n in units and k in constants, where
// ext widens by sign or by zeros: no such sum wraps at 32 bits. `unit` is a warp-uniform term (the
// row pitch of a transposed walk); without one only the constants count. It is enough that the sums
// at the ends of the two ranges do not wrap. Both ranges contain 0.
struct IndexFact {
  sym::Term index;
  sym::Term unit; // invalid: none
  bool is_signed = true;
  struct Interval {
    std::int64_t lowest = 0, highest = 0;
    void include(std::int64_t value) {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
    void include(const Interval& other) {
      include(other.lowest);
      include(other.highest);
    }
    friend auto operator<=>(const Interval&, const Interval&) = default;
  };
  Interval units, constants;
};

struct AddressMatch {
  std::vector<IndexFact> facts; // to be checked in lane x
  sym::ProofKind proof = sym::ProofKind::none;
};

// How a term changes from lane x to lane x + N of the same row.
class LaneShift {
public:
  explicit LaneShift(emulator::Kernel& kernel);

  // t in lane x + delta; nothing if t depends on a value that lanes hold independently (a loaded
  // value, an unknown result), so that its value in another lane is not known.
  std::optional<sym::Term> shifted(sym::Term t, int delta);
  // The same as what the registers of the lane become, and the fact that makes it so: lane
  // x + delta is in the row. For a proof that does not rest on how shifted() works.
  struct Meaning {
    sym::Context::Substitution map;
    std::vector<sym::Term> facts;
  };
  [[nodiscard]] Meaning meaning(int delta) const;
  [[nodiscard]] sym::Term tid_x() const { return tid_x_; }

private:
  [[nodiscard]] bool lane_private(sym::Term t) const;

  sym::Context& c_;
  sym::Term tid_x_, laneid_;
};

// Compares `there` (already the term of lane x + N) with `here`. First as normal forms, then with
// index facts, then by Z3 under `facts`; `paranoid` solvers see every proof again.
std::optional<AddressMatch> match_addresses(sym::Context& context, sym::Solver& solver,
                                            std::span<const sym::Term> facts, sym::Term there,
                                            sym::Term here, bool paranoid);

} // namespace ptxasw::passes
