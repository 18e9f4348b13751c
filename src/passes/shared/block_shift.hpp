// Terms as they are in another copy of a coarsened kernel.
#pragma once

#include "analysis/replica_divergence.hpp"
#include "emulator/emulate.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace ptxasw::passes {

// How an axis is cut into copies.
struct Axis {
  unsigned factor = 1; // copies along this axis
  bool rows = false;   // cut by rows, not by blocks
};

class BlockShift {
public:
  // `variance`: what differs between the copies; it must outlive the shift.
  BlockShift(emulator::Kernel& kernel, const std::array<Axis, 3>& axes,
             const analysis::ReplicaDivergence& replica_divergence);

  // t, which is about copy 0, for the copy that lies `by` further along the axes; nothing if t
  // depends on a value that the copies hold independently (loaded values, unknown results).
  std::optional<sym::Term> moved(sym::Term t, const std::array<std::int64_t, 3>& by);
  // The atom that stands for %ctaid*%ntid + %tid along an axis cut by rows; else invalid.
  [[nodiscard]] sym::Term row(unsigned axis) const {
    return axes_[axis].gone.valid() ? axes_[axis].variable : sym::Term{};
  }
  [[nodiscard]] bool is_row(sym::Term t) const { return t == row(0) || t == row(1) || t == row(2); }

private:
  [[nodiscard]] bool varies_freely(sym::Term atom) const;
  [[nodiscard]] bool trip_counts_diverge(std::uint32_t loop) const;

  const emulator::Kernel& k_;
  sym::Context& c_;
  const analysis::ReplicaDivergence& replica_divergence_;
  bool calls_;
  struct Position {
    sym::Term variable;              // what grows by one from copy to copy
    sym::Term gone;                  // rows: %ctaid, which must cancel
    sym::Context::Substitution rows; // rows: %tid = row - %ctaid * %ntid, in 32 and 64 bits
  };
  std::array<Position, 3> axes_;
};

} // namespace ptxasw::passes
