// Threads in terms of places, and loops with which a thread takes one place after another:
//
//   for (i = place; i < end; i += threads of the launch)      along one axis each
//
// Each place from 0 up to `end` is one of one thread, in one iteration; so the iterations are what
// threads of a larger grid are.
#pragma once

#include "passes/time_tile/step/step.hpp"
#include "passes/time_tile/step/step_region.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace ptxasw::passes {

inline constexpr const char* has_loops = "it has loops"; // of another kind

// What a thread has of itself, or of the launch. Invalid: it reads none, or it is a number.
sym::Term read_special(const emulator::Kernel& kernel, ptx::Special special);

// How many threads the launch has along the axis, as the kernel knows them: %nctaid * %ntid, or
// either one, if the thread knows nothing of the other. Invalid: it does not.
sym::Term threads_along(emulator::Kernel& kernel, unsigned axis);

struct StepLoop {
  std::uint32_t number = 0; // of the kernel's loops
  unsigned axis = 0;
  sym::Term iteration; // the atom
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

  // `atom` stands for the thread along the axis, `place` for the atom of the place.
  void add(std::uint32_t atom, sym::Term thread, unsigned axis, sym::Term place) {
    as_place_.emplace(atom, thread);
    place_[axis] = place;
  }
  void set_loops(std::vector<StepLoop> loops) { loops_ = std::move(loops); }
  [[nodiscard]] const std::vector<StepLoop>& loops() const { return loops_; }

  [[nodiscard]] bool mentions(sym::Term t, unsigned axis) const;
  // Of a term of the block: outside of a loop a thread has the first of its places.
  [[nodiscard]] sym::Term at(sym::Term t, analysis::BlockId block) const;
  // That the loop goes round once more, of the place that comes then. Invalid: not known.
  [[nodiscard]] sym::Term goes_on(const StepLoop& loop) const;

private:
  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Context::Substitution as_place_;
  std::array<sym::Term, 3> place_;
  std::vector<StepLoop> loops_;
};

// Of each loop where it ends. `guards`: of the region, those that say no more than that a loop is
// begun.
struct FoundWalks {
  Why refused;
  std::array<std::optional<StepPlan::Walk>, 3> walks;
  std::set<std::size_t> guards;
};

FoundWalks find_walks(const emulator::Kernel& kernel, const StepRegion& region,
                      const IntegerPolynomialReader& reader, const StepPlaces& places,
                      const std::optional<StepRows>& rows);

// What is copied of the plan takes nothing from the iteration before but the place. `walking`:
// registers that hold it at the begin of each iteration. Empty, or what it takes.
Why why_iterations_meet(const emulator::Kernel& kernel, const StepPlan& plan,
                        const StepPlaces& places, const std::set<ptx::RegId>& walking);

} // namespace ptxasw::passes
