// The coverage query along the time axis: S(x + offset, t - 1) = D(x, t).
//
// A step kernel writes, in the thread at x, the element of x of an array `out`, from elements of an
// array `in`; the program launches it again and again with the two exchanged. A load that reads
//
//     address of the store at x + offset, with `in` in the place of `out`
//
// then reads, one launch later, what the thread at x + offset has stored; or, where that thread
// stores nothing, an element that nobody stores to. So T launches can be computed on chip for a
// region of the grid. Or there are three arrays in rotation: a launch reads `old` and `now`, writes
// `next`, and the next launch has now, next and old in their places (a wave equation).
//
// Conditions, and where each is checked:
//   threads do not meet                                               why_threads_synchronize
//   behind the guards each one stores                                 find_region
//   a place in the grid is all that a thread knows of itself          find_places, find_rows
//   every load from `in` is the store at a constant offset, by cases   find_reads, find_offsets
//   other loads are from arrays that nobody stores to                 find_offsets, `touched`
//   no index wraps, and no two elements that matter share an address  `conditions`
// The last two are checked for each launch, where the parameters are numbers: contract/steps.hpp.
// src/passes/time_tile/PROOF.md argues that this is enough.
#pragma once

#include "contract/contract.hpp"
#include "emulator/emulate.hpp"
#include "passes/time_tile/polynomial/cases.hpp"
#include "passes/time_tile/polynomial/equal_fields.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::passes {

// How a kernel knows the place of a thread along an axis.
enum class Place : std::uint8_t {
  none,    // not at all
  threads, // %ctaid * %ntid + %tid
  thread,  // %tid alone
  block,   // %ctaid alone
};

using Offset = std::array<int, 3>;

// How the program's arrays move from launch to launch.
enum class Motion : std::uint8_t { exchanged, rotated };

// An array that the steps carry from one to the next. Of structures each field is an array, as are
// the planes of a buffer that has several of them behind one another: these have the same `in` and
// `out`, and elements beside one another.
struct StepArray {
  unsigned in = 0, out = 0; // parts of parameters
  unsigned bytes = 4;       // of an element: 1, 2, 4 or 8
  unsigned parts = 1;       // registers of one: two of 4 bytes each, or one
  // Nothing is computed for it: the next launch finds in it what this one found in the first array.
  // It has no store.
  bool carried = false;
  bool foreign = false; // of a stage: another stage stores to it
  // Of which each thread that stores does some; of a vector it is the register `at`.
  struct Store {
    ptx::InstId inst = 0;
    unsigned at = 0;
  };
  std::vector<Store> stores;
  IntegerPolynomial element; // where the element of a place lies behind the array's begin, in bytes
  // At places within the bounds a load reads the element so far from the stored one.
  struct Case {
    Offset offset{};
    std::vector<Bound> bounds;
  };
  struct Load {
    ptx::InstId inst = 0;
    std::vector<Bound> where;                    // it is done, if the branches in front of it tell
    std::vector<Case> cases;                     // first that of the interior; of a place one holds
    std::optional<unsigned> part = std::nullopt; // of two the one that is loaded alone
    // Whether a place does it hangs on data, and nothing else tells that the element is touched.
    bool late = false;
    unsigned at = 0; // the register of a vector that it goes to, if there are fields
    [[nodiscard]] const Offset& offset() const { return cases[0].offset; }
    // Where it reads the element of the case.
    [[nodiscard]] std::vector<Bound> bounds_of(const Case& one) const {
      std::vector<Bound> bounds = where;
      for (const Bound& bound : one.bounds)
        if (std::ranges::find(bounds, bound) == bounds.end()) bounds.push_back(bound);
      return bounds;
    }
  };
  std::vector<Load> loads;
};

// A predicate that a thread has to have, or not to have, to get to the stores.
struct StepGuard {
  ptx::RegId predicate = ptx::none;
  bool negated = false;
  analysis::BlockId block = 0; // that it leaves
};

// Of places that threads have row by row (step_rows.hpp): y and x are quotient and rest of a
// thread's number.
struct StepRows {
  IntegerPolynomial length, count; // of rows
  bool all = false;                // that there are no other threads is a condition
  std::set<ptx::RegId> numbers;    // registers that hold the number of the thread
};

struct StepPlan {
  Why refused; // why this is no step kernel; nothing else is then valid
  // In rotation: first the one from now to next, then the one from old to now, which is carried.
  std::vector<StepArray> arrays;
  bool has_fields = false; // vectors are loaded and stored register by register
  std::optional<contract::Rotation> rotation;
  std::array<Place, 3> places{};
  bool by_block = false;           // see contract::Steps
  contract::Steps::InLine in_line; // likewise
  std::optional<StepRows> rows;
  // Along such an axis a thread takes one place after another, up to `end`.
  struct Walk {
    IntegerPolynomial end;       // of rows: of the numbers of places
    std::vector<InRange> ranges; // have to hold at whatever place a thread looks at
    // It is the only one along the axis, and takes all of them.
    bool alone = false;
  };
  std::array<std::optional<Walk>, 3> walks;
  std::map<ptx::RegId, unsigned> coordinates; // registers that hold a coordinate: its axis
  // Registers that hold a number which sizes of the launch are part of: no thread of an entry has
  // these in its registers.
  std::map<ptx::RegId, IntegerPolynomial> sized;
  std::vector<StepGuard> guards;
  // On the way to the stores, predecessors first. Branches of which both sides lead to stores: the
  // side on which the interior is, where bounds tell; ~0 where data do.
  std::vector<analysis::BlockId> blocks;
  analysis::BlockId head = analysis::no_block; // behind the guards
  std::map<analysis::BlockId, unsigned> forks;
  // Where these hold beside the guards, all loads are as in the interior, and all forks.
  std::vector<Bound> inner;
  void add_inner(const std::vector<Bound>& bounds) {
    for (const Bound& bound : bounds)
      if (std::ranges::find(inner, bound) == inner.end()) inner.push_back(bound);
  }
  // Along such an axis places are taken modulo a size: the elements of a torus.
  std::array<std::optional<IntegerPolynomial>, 3> periods;
  // Everything that guards, and that stored values are computed by, in order; loads of the arrays
  // are among it, what only their addresses need is not.
  std::vector<ptx::InstId> guard_slice, value_slice;
  std::set<ptx::InstId> late; // loads of arrays that do not move, which hang on data
  bool masked = false;        // the last guard hangs on memory that no step writes
  // Each guard holds in one stretch along each axis: where it holds at two corners of a box, it
  // holds in all of it.
  bool convex = true;
  // The guards hold at the places of a box, and at all of them, if the conditions hold.
  bool boxed = true;
  Offset least{}, most{}; // of all offsets, by axis
  // Of those along an axis of which all places that store have one coordinate: what is right of a
  // region narrows by these once, however many steps there are (PROOF.md, "Rims along a line").
  Offset once_least{}, once_most{};
  std::array<std::optional<IntegerPolynomial>, 3> line; // that coordinate, by axis
  [[nodiscard]] bool reads_beside(unsigned axis) const {
    return least[axis] != 0 || most[axis] != 0 || once_least[axis] != 0 || once_most[axis] != 0;
  }
  Box box, around; // of the places that store; with those that they read
  std::vector<contract::Condition> conditions;
  std::vector<contract::Touched> touched;
  // Of one array: no place that stores has another element than these.
  std::optional<contract::Elements> stored;
  std::optional<contract::CopyKernel> copy;  // it does nothing else: no step, but part of one
  std::vector<contract::Variable> variables; // of the module, that are read at one place by all

  // The register holds a coordinate, or what follows from coordinates alone.
  [[nodiscard]] bool is_place(ptx::RegId reg) const {
    return coordinates.contains(reg) || (rows && rows->numbers.contains(reg));
  }
  // Of those of one buffer.
  [[nodiscard]] bool is_first_field(const StepArray& array) const {
    return &*std::ranges::find(arrays, array.out, &StepArray::out) == &array;
  }
  // Entries know what it holds.
  [[nodiscard]] bool is_told(ptx::RegId reg) const { return is_place(reg) || sized.contains(reg); }
  // What an instruction loads of the arrays.
  struct Loaded {
    const StepArray* array;
    const StepArray::Load* load;
  };
  [[nodiscard]] std::vector<Loaded> loads_of(ptx::InstId inst) const {
    std::vector<Loaded> all;
    for (const StepArray& array : arrays)
      for (const StepArray::Load& load : array.loads)
        if (load.inst == inst) all.push_back({&array, &load});
    return all;
  }
  [[nodiscard]] bool is_load(ptx::InstId inst) const {
    return std::ranges::any_of(arrays, [&](const StepArray& array) {
      return std::ranges::find(array.loads, inst, &StepArray::Load::inst) != array.loads.end();
    });
  }
};

// Whether arrays are exchanged or rotate is the program's: a kernel that reads two arrays beside
// the one that it writes may be a step of either kind. Which of several arrays is exchanged the
// launches decide, too: `choice` counts the likely ones, the likeliest first.
// `sweep`: along an axis the kernel has threads in the place of a loop (sweep.hpp).
struct Sweep {
  unsigned axis = 0;
  StepPlan::Walk walk;
};
StepPlan find_step(emulator::Kernel& kernel, Motion motion = Motion::exchanged, unsigned choice = 0,
                   const std::optional<Sweep>& sweep = std::nullopt);

// Threads of a launch, by axis, as the program has written them elsewhere.
using WrittenExtents = std::map<unsigned, Number>;

// Of a kernel that is one of several launches which make a step together: a stage (sequence.hpp).
// It reads an array that it stores to at the thread's own place alone.
struct StageQuestion {
  EqualFields equal;              // parameters that have the same value
  std::vector<StepArray> foreign; // arrays of other stages, as this kernel's parameters have them
  // By parameter the element of the array that other stages store to, where this one may know it at
  // some places only (step_pins.hpp).
  std::map<unsigned, IntegerPolynomial> elements;
  bool only_stores = false; // what it stores to is all that is asked
  // Sizes that it asks its launch for are numbers of places: by axis those that they are taken to
  // be (step_extents.hpp). None: it may not ask.
  std::optional<WrittenExtents> written = std::nullopt;
};
// `in` and `out` of an array are the same parameter then.
StepPlan find_stage(emulator::Kernel& kernel, const StageQuestion& question);

} // namespace ptxasw::passes
