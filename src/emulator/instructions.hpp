// The straight-line part of the emulation: one instruction at a time over a state of terms.
#pragma once

#include "emulator/callee.hpp"
#include "emulator/emulate.hpp"
#include "emulator/slice.hpp"
#include "emulator/symbolic_domain.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

using State = std::vector<sym::Term>; // by needed register

// The two enums have the same members in the same order.
inline sym::Uniformity to_sym(analysis::Uniform u) {
  return static_cast<sym::Uniformity>(u);
}

class Instructions {
public:
  Instructions(Kernel& kernel, const Slice& slice, std::array<std::uint32_t, 3> block_shape)
      : k_(kernel), c_(*kernel.context), domain_(c_), slice_(slice), shape_(block_shape),
        callees_(*kernel.body.module, c_, [this](ptx::Special id) { return special(id); }) {}
  Instructions(const Instructions&) = delete;

  // Emulates a block's instructions, recording events and definitions in the kernel's trace.
  void run(analysis::BlockId block, State& state);
  // The condition under which an instruction takes effect; constant true if it has no guard.
  sym::Term guard_of(const ptx::Inst& inst, const State& state);
  // A new atom for a register whose value is not followed.
  sym::Term fresh(AtomKind kind, std::string name, ptx::RegId reg, sym::Uniformity uniformity,
                  std::uint32_t tag, std::uint32_t tag2 = 0);

private:
  sym::Term special(ptx::Special id);
  sym::Term symbol(std::uint32_t id);
  sym::Term value_of(const ptx::Arg& arg, const State& state);
  sym::Term address_of(const ptx::Address& address, const State& state);
  [[nodiscard]] bool writes_needed(const ptx::Inst& inst) const;
  void store_parameter(const ptx::Inst& inst, const State& state);
  CallValues arguments_of(const ptx::Inst& call, const State& state);
  void see_through(ptx::InstId call, State& state);
  std::optional<Event> make_event(ptx::InstId id, analysis::BlockId block, const State& state);
  void execute(ptx::InstId id, const Event* event, State& state);
  std::vector<sym::Term> results_of(ptx::InstId id, const Event* event, const State& state);
  sym::Term loaded(ptx::InstId id, std::size_t element, const Event* event);
  sym::Term parameter(const ptx::Address& address, unsigned element, unsigned width);

  Kernel& k_;
  sym::Context& c_;
  SymbolicDomain domain_;
  const Slice& slice_;
  std::array<std::uint32_t, 3> shape_;
  Callees callees_;
  ParameterCells cells_; // .param variables of calls; symbol: index into Body::symbols
  std::map<std::uint32_t, sym::Term> symbols_;
  std::map<std::pair<std::uint64_t, unsigned>, sym::Term> parameters_;
};

} // namespace ptxasw::emulator
