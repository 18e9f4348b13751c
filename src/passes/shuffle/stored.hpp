// A store as the source of a load: what a thread has stored to shared memory, and loads again.
//
// A load D is covered by an earlier store S of the same thread whose register still holds the
// value: address(S) = address(D), and in between nobody writes there. The question of lane.hpp with
// a store in the place of the earlier load, and N = 0. Conditions, and where each is checked:
//   S stores whole registers of 32 or 64 bits, D loads as many into such      has_value
//   neither is volatile or ordered; all bytes of D are loaded                 has_value, LaneReuse
//   S dominates D, and each loop around S is one around D, so that no
//   trip of it lies between                                       try_store, holds_both
//   S took effect wherever D does                                            took_effect
//   the thread itself stores nothing to those bytes in between                undisturbed
//   no other thread of the block ever does      passes::OwnBytes (own_bytes.hpp)
//   S's register still has the value, or a copy is kept                       Cover::needs_copy
// Barriers in between order nothing that this rests on. Where the last but one holds only in blocks
// that are not too large, Cover::at_most says so, which has to be asked at run time.
#pragma once

#include "passes/shared/between.hpp"
#include "passes/shuffle/lane.hpp"
#include "passes/shuffle/own_bytes.hpp"

#include <optional>

namespace ptxasw::passes {

class StoredValues {
public:
  StoredValues(emulator::Kernel& kernel, sym::Solver& solver, passes::Between& between,
               const LaneOptions& options);

  // The cover by the nearest store that has what event `e`, a load, reads. Where there is such a
  // store but it does not do, `why` says why.
  std::optional<Cover> find(std::size_t e, Why& why);

private:
  [[nodiscard]] const emulator::Event& event(std::size_t e) const { return k_.trace.events[e]; }
  passes::OwnBytes& own();
  [[nodiscard]] bool same_address(const emulator::Event& s, const emulator::Event& d);
  [[nodiscard]] bool has_value(const emulator::Event& s, const emulator::Event& d) const;
  [[nodiscard]] bool holds_both(std::uint32_t loop, const emulator::Event& d) const;
  bool took_effect(const emulator::Event& s, const emulator::Event& d);
  bool undisturbed(const emulator::Event& s, const emulator::Event& d, Why& why);
  std::optional<Cover> try_store(std::size_t store, const emulator::Event& d, Why& why);

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  passes::Between& between_;
  ForwardMode mode_;
  bool paranoid_;
  std::optional<passes::OwnBytes> own_; // once there is a store to ask about
  std::array<std::uint32_t, 3> block_;
};

} // namespace ptxasw::passes
