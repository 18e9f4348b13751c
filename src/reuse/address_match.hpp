// Is S(x + N) = D(x), and which index checks does that rest on?
#pragma once

#include "emulator/emulate.hpp"
#include "symbolic/solver.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::reuse {

// ext(index + k) = ext(index) + k for all |k| <= margin, where ext widens by sign or by zeros.
struct IndexFact {
  sym::Term index;
  bool is_signed = true;
  std::uint64_t margin = 0;
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
