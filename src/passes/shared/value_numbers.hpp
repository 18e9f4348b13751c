// Congruent instructions: those that compute the same value.
#pragma once

#include "passes/shared/sites.hpp"
#include "ptx/body.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxasw::passes {

// A number for each value: equal numbers, equal values. Registers written once have the value of
// the instruction that writes them.
class ValueNumbers {
public:
  ValueNumbers(const ptx::Body& body, const Reaching& reaching);

  [[nodiscard]] std::uint32_t of(ptx::InstId id) const { return of_[id]; }
  [[nodiscard]] std::uint32_t of(const ptx::Arg& arg);
  [[nodiscard]] bool is_value(const ptx::Inst& inst) const;

private:
  std::uint32_t number(ptx::InstId id);
  std::uint32_t intern(const std::string& text);

  const ptx::Body& body_;
  const Reaching& reaching_;
  std::vector<std::uint32_t> of_;
  std::map<std::string, std::uint32_t> numbers_;
};

// The line for each line whose instruction computes the same value as that of an earlier one:
// ptxas may compute both at once.
std::map<std::uint32_t, std::uint32_t> congruent_lines(const ptx::Body& body,
                                                       const Reaching& reaching);

// ptxas gives an instruction the line of its opcode, not that of its guard.
std::uint32_t opcode_line(const ptx::Body& body, ptx::InstId id);

} // namespace ptxasw::passes
