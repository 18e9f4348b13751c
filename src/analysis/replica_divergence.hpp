// Which registers can hold different values in copies of one body that run side by side and differ
// only in some special registers (the copies of a coarsened kernel).
//
// A fixpoint over data dependences, flow-insensitive as uniformity.hpp. There is no rule for
// control flow: it is for programs in which all copies take the same way at every branch, or stop
// running side by side, or part in stretches of code that are `apart`: there every instruction
// stands once for each copy, and what it writes differs, unless it writes what is there already.
#pragma once

#include "ptx/body.hpp"

#include <span>
#include <vector>

namespace ptxasw::analysis {

struct ReplicaDivergence {
  std::vector<ptx::Special> seeds;
  std::vector<bool> registers; // by RegId
  std::vector<bool> symbols;   // by index into Body::symbols: each copy has a variable of its own
  std::vector<bool> apart;     // by InstId; empty: none is
  std::vector<bool> repeats;   // likewise: it writes what is there already (a region's `mov`)

  [[nodiscard]] bool of(const ptx::Arg& arg) const;
  // Some operand (address and guard included) differs between copies.
  [[nodiscard]] bool reads(const ptx::Body& body, const ptx::Inst& inst) const;
  [[nodiscard]] bool is_apart(const ptx::Body& body, const ptx::Inst& inst) const;
  [[nodiscard]] bool writes(const ptx::Body& body, const ptx::Inst& inst) const;
  // What it writes differs only if what stands ahead of it writes what differs.
  [[nodiscard]] bool only_repeats(const ptx::Body& body, const ptx::Inst& inst) const;
  // The instruction has to be there once for each copy.
  [[nodiscard]] bool differs(const ptx::Body& body, const ptx::Inst& inst) const {
    return reads(body, inst) || writes(body, inst) || is_apart(body, inst);
  }
};

ReplicaDivergence find_replica_divergence(const ptx::Body& body,
                                          std::span<const ptx::Special> seeds);
// The same beside what `known` says to vary: registers, symbols, code apart.
ReplicaDivergence spread_replica_divergence(const ptx::Body& body, ReplicaDivergence known);
// Which registers may hold what a load (of anything but parameters), an atomic or a call gave, or
// what was made of it.
ReplicaDivergence is_data_dependent(const ptx::Body& body);

} // namespace ptxasw::analysis
