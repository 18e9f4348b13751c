// What it rests on that a load may take another one's value: that the addresses agree, how that was
// proved, and what of the proof is checked at run time or promised by the user. The same for all
// axes.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/address_match.hpp"
#include "passes/shared/check_places.hpp"
#include "symbolic/solver.hpp"

#include <functional>
#include <span>
#include <vector>

namespace ptxasw::passes {

struct Justification {
  std::vector<NoWrap> checks;
  std::vector<IndexFact> promised; // the same, but the user vouches for them
  sym::ProofKind proof = sym::ProofKind::none;
};

struct JustificationOptions {
  bool no_index_wrap = false; // promised by the user
  bool paranoid = false;      // Z3 repeats every normal-form proof
};

class JustificationFinder {
public:
  JustificationFinder(emulator::Kernel& kernel, sym::Solver& solver, Between& between,
                      JustificationOptions options)
      : k_(kernel), solver_(solver), places_(kernel, between), options_(options) {}

  // Does the load read what stands at `there`, and may that be relied on? `meant` asks whether
  // `there` is what the source reads, by a proof of its own; --paranoid wants that. Where the
  // answer is no, `why` says what is missing; it stays empty where the addresses are just not
  // proved to be equal.
  bool find(const emulator::Event& load, sym::Term there, const std::function<bool()>& meant,
            Justification& grounds, Why& why);

private:
  emulator::Kernel& k_;
  sym::Solver& solver_;
  CheckPlaces places_;
  JustificationOptions options_;
};

// Neighbouring loads rest on one index with different distances: one check serves all of them.
void share_checks(std::span<Justification* const> all);

} // namespace ptxasw::passes
