// Threads in terms of places, and loops with which a thread takes one place after another:
//
//   for (i = place; i < end; i += threads of the launch)      along one axis each
//
// Each place from 0 up to `end` is one of one thread, in one trip; so the trips are what threads of
// a larger grid are.
#pragma once

#include "passes/time_tile/integer_polynomial.hpp"
#include "passes/time_tile/step_region.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace ptxasw::passes {

struct StepLoop {
  std::uint32_t number = 0; // of the kernel's loops
  unsigned axis = 0;
  sym::Term trip; // the atom
};

// Of a kernel with loops: each walks along another axis, or `refused` says which does not.
struct StepLoops {
  Why refused;
  std::vector<StepLoop> loops;
  [[nodiscard]] const StepLoop* along(unsigned axis) const;
};

StepLoops find_step_loops(emulator::Kernel& kernel);

// What is known of a thread, and of how often it went round, in terms of places.
class StepPlaces {
public:
  explicit StepPlaces(emulator::Kernel& kernel) : k_(kernel), c_(*kernel.context) {}

  void add(unsigned atom, sym::Term place) { as_place_.emplace(atom, place); }
  void set_loops(std::vector<StepLoop> loops) { loops_ = std::move(loops); }
  [[nodiscard]] const std::vector<StepLoop>& loops() const { return loops_; }

  // Of a term of the block: outside of a loop a thread has the first of its places.
  [[nodiscard]] sym::Term at(sym::Term t, analysis::BlockId block) const;
  // That the loop goes round once more, of the place that comes then. Invalid: not known.
  [[nodiscard]] sym::Term goes_on(const StepLoop& loop) const;

private:
  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Context::Substitution as_place_;
  std::vector<StepLoop> loops_;
};

} // namespace ptxasw::passes
