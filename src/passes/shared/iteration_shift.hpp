// How terms change from a trip of a loop to the one before.
#pragma once

#include "emulator/emulate.hpp"

#include <cstdint>
#include <optional>

namespace ptxasw::passes {

class IterationShift {
public:
  IterationShift(emulator::Kernel& kernel, std::uint32_t loop)
      : c_(*kernel.context), iteration_(kernel.trace.iterations[loop]) {}

  // t in the iteration before; nothing if t depends on a value that the loop finds anew in each
  // trip.
  std::optional<sym::Term> before(sym::Term t);
  // The same for a proof that does not rest on how before() works.
  [[nodiscard]] sym::Context::Substitution meaning() const;
  // t is the same in all trips.
  [[nodiscard]] bool is_fixed(sym::Term t) const;

private:
  [[nodiscard]] bool varies_freely(sym::Term atom) const;

  sym::Context& c_;
  sym::Term iteration_;
};

} // namespace ptxasw::passes
