// Which variables of shared memory each access may touch.
//
// An address is a variable plus something: followed through registers, flow-insensitively, over
// moves, additions and choices. Whatever else would read an address (a store of it, a comparison, a
// conversion to a generic one) makes the kernel refused: where shared memory lies must not matter.
// That an index stays in its variable is PTX's rule: how variables lie to each other is not
// defined.
#pragma once

#include "ptx/body.hpp"
#include "ptxasw/reason.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace ptxasw::passes {

class SharedSymbols {
public:
  explicit SharedSymbols(const ptx::Body& body);

  Why refused; // why accesses could not be told apart; empty: they were

  // Of a load from or store to shared memory: indices into Body::symbols.
  [[nodiscard]] std::set<std::uint32_t> of(const ptx::Inst& access) const;
  // All that the kernel uses, with `copies` of those in `own`.
  [[nodiscard]] std::uint64_t bytes(std::span<const std::uint32_t> own, unsigned copies) const;

  static constexpr std::uint64_t alignment = 16; // of each copy
  [[nodiscard]] bool is_shared(std::uint32_t symbol) const;

private:
  using Set = std::set<std::uint32_t>;
  [[nodiscard]] Set of(const ptx::Arg& arg) const;
  void follow();
  void check(const ptx::Inst& inst);

  const ptx::Body& body_;
  std::vector<Set> registers_; // by RegId
};

} // namespace ptxasw::passes
