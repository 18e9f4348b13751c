// Is S(x + N) = D(x), and which index checks does that rest on?
#pragma once

#include "emulator/emulate.hpp"
#include "symbolic/solver.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::reuse {

// ext(index + n*unit) = ext(index) + n*ext(unit) for every n in lowest..highest, where ext widens
// by sign or by zeros: no such sum wraps at 32 bits. `unit` is the constant 1 or a warp-uniform
// term (the row pitch of a transposed walk). Holds for all n when it does for the two ends.
struct IndexFact {
  sym::Term index, unit;
  bool is_signed = true;
  std::int64_t lowest = 0, highest = 0; // lowest <= 0 <= highest
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

} // namespace ptxasw::reuse
