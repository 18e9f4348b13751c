// Copies of a step kernel's own instructions, for places that are named: for steps.cpp.
#pragma once

#include "passes/shared/bindings.hpp"
#include "passes/time_tile/polynomial/parameter_names.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"
#include "passes/time_tile/step/step.hpp"
#include "ptx/build.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::passes {

// The register that holds an element: bytes are the lower half of one of 16 bits.
inline unsigned held_bits(const StepArray& array) {
  return std::max(16U, array.bytes * 8);
}

// Of a load from a parameter by its name: the part that it begins with.
std::optional<unsigned> parameter_read(const ptx::Body& body, const ptx::Inst& inst);
// Of what a place stores to an array, for `mov`.
ptx::Type move_type(const ptx::Body& body, const StepArray& array);

class StepBody {
public:
  // Parameters of which each pass has a value of its own, by number, and where that lies among the
  // values of a pass.
  using Varying = std::map<unsigned, int>;
  StepBody(const emulator::Kernel& kernel, const StepPlan& plan, ptx::Code& code)
      : StepBody(kernel, plan, code, ParameterNames(kernel.body), {}) {}
  StepBody(const emulator::Kernel& kernel, const StepPlan& plan, ptx::Code& code,
           ParameterNames parameter_names, Varying varying);

  using Place = std::array<ptx::Reg, 3>; // the coordinates
  // The register with what a load of an array reads; without a load: the place's own element.
  using OnChip = std::function<ptx::Reg(const StepArray& array, const StepArray::Load* load)>;

  // Of a place whose loads hang on data: what is done of these as it comes to them.
  struct Late {
    ptx::Reg guard; // under which loads of other arrays are done
    // What such a load of an array reads, with what a region has there; none: that.
    std::function<ptx::Reg(const StepArray& array, const StepArray::Load& load,
                           const ptx::Reg& held)>
        load;
  };

  // What is the same for all places: parameters, the launch's extents, and what follows from them.
  void parameters(PolynomialCode& numbers);
  // Of StepPlan::rows: the register of 32 bits with the length of a row.
  void set_row(const ptx::Reg& length) { row_ = length; }
  // Loads that are the same for all places, and what follows; done by threads with `guard` (empty:
  // by all).
  void uniform_loads(const ptx::Reg& guard);
  // What hangs on varying parameters and is the same for all places; `values`: where those of the
  // pass lie in the parameter space. Loads are done by threads with `guard` (empty: by all).
  void begin_pass(const ptx::Reg& values, const ptx::Reg& guard);
  // The kernel's guards at a place, as a predicate; of one in the grid, if `in_grid` holds.
  ptx::Reg guards(const Place& place, const ptx::Reg& in_grid);
  // Of these those that depend on an axis, or those that do not; empty: there are none.
  ptx::Reg guards(const Place& place, unsigned axis, bool along);
  // Of these those that depend on exactly these axes, a bit each; empty: there are none.
  ptx::Reg guards_of(const Place& place, unsigned axes);
  // One of them holds at one coordinate alone, whatever its other ones are.
  [[nodiscard]] bool hold_on_a_line() const;
  // None of them depends on this axis and on another one.
  [[nodiscard]] bool separable(unsigned axis) const;
  // What is stored at a place, by array: registers as wide as an image's, or literals; where that
  // can be, computed in the registers `into`. Loads of other arrays only under `guard`. `inner`: of
  // the interior alone. Labels begin with `labels`.
  std::vector<ptx::Source> values(const Place& place, const OnChip& on_chip,
                                  const std::vector<ptx::Reg>& into, const ptx::Reg& guard,
                                  bool inner, const std::string& labels, const Late& late = {});

  [[nodiscard]] bool has_uniform_loads() const { return has_uniform_loads_; }
  // A copy for the interior is a copy for all places: no branches, no loads of other arrays.
  [[nodiscard]] bool same_everywhere() const;
  // It loads from arrays that do not move.
  [[nodiscard]] bool reads_others() const;
  [[nodiscard]] bool values_use_place() const { return values_use_place_; }

private:
  enum class Class : std::uint8_t { parameter, loaded, pass, place, value };
  using Renamed = std::map<ptx::RegId, ptx::Reg>;

  // A predicate that all threads that store have, or have not; guards are split into these.
  struct Conjunct {
    ptx::RegId predicate = ptx::none;
    bool negated = false;
    unsigned axes = 0; // that it depends on, a bit each
  };

  void classify(std::span<const ptx::InstId> slice);
  // Each thread that stores executes the block.
  [[nodiscard]] bool always(analysis::BlockId block) const;
  void find_wide(std::span<const ptx::InstId> slice);
  void note_place(ptx::RegId reg); // that has to be there in another form
  void widen(const Place& place, Renamed& renamed);
  [[nodiscard]] unsigned axes_of(ptx::RegId reg) const;
  ptx::Reg narrowed(ptx::RegId reg, const ptx::Reg& number);
  // Of a block of the way: those behind it that the copy has.
  [[nodiscard]] std::vector<analysis::BlockId> behind(analysis::BlockId block, bool inner) const;
  [[nodiscard]] bool leads(analysis::BlockId from, analysis::BlockId to) const; // to stores
  [[nodiscard]] bool may_end(analysis::BlockId block, bool inner) const;
  [[nodiscard]] std::vector<analysis::BlockId> copied(bool inner) const;
  // One copy of the body, for a place.
  struct Copy {
    const Place& place;
    const OnChip& on_chip;
    const ptx::Reg& guard;
    const Late& late;
    bool branches = false; // each store leaves its value in a register of its array
    Renamed renamed;
    // Loads that were done in front of all branches.
    std::map<const StepArray::Load*, ptx::Reg> neighbours;
    Renamed results_in;              // registers that are given to results
    std::vector<ptx::Source> values; // by array: what is stored, or
    std::vector<ptx::Reg> results;   // with branches, where that is left
  };
  void name_results(const std::vector<ptx::Reg>& into, Copy& to);
  void copy_block(analysis::BlockId block, Copy& to);
  void copy_load(const StepPlan::Loaded& loaded, Copy& to);
  void split_load(const ptx::Inst& load, std::optional<unsigned> part, const ptx::Reg& held,
                  Copy& to);
  void fetch_neighbours(std::span<const analysis::BlockId> blocks, Copy& to);
  void branch(analysis::BlockId from, analysis::BlockId below, bool inner,
              const std::string& labels, const Copy& to);
  void copy_store(ptx::InstId id, Copy& to);
  [[nodiscard]] ptx::Source stored(const StepArray& array, const StepArray::Store& from,
                                   const Place& place, const Renamed& renamed);
  [[nodiscard]] ptx::Reg joined(std::span<const ptx::Arg> parts, const Place& place,
                                const Renamed& renamed);
  void split_guards();
  void split(const Conjunct& whole, const std::map<ptx::RegId, ptx::InstId>& made_by);
  [[nodiscard]] ptx::Reg all_of(const std::vector<Conjunct>& conjuncts, const Place& place,
                                const Renamed& renamed, ptx::Reg all = {});
  [[nodiscard]] std::optional<int> value_of(const ptx::Inst& inst) const;
  [[nodiscard]] std::string as_rounded(const ptx::Inst& inst, std::string copied) const;
  void copy(ptx::InstId id, const Place* place, const ptx::Reg& guard, Renamed& renamed,
            const Renamed* results_in = nullptr);
  [[nodiscard]] ptx::Reg reg_of(const ptx::Arg& arg, const Place* place,
                                const Renamed& renamed) const;
  [[nodiscard]] ptx::Reg fresh(ptx::RegId reg);
  // One for all copies: what is in it is of no use behind a copy.
  [[nodiscard]] const ptx::Reg& reused(ptx::RegId reg);
  // What the load would leave in its register of an element that is held; and the other way round.
  ptx::Reg as_loaded(const ptx::Inst& load, ptx::RegId reg, const StepArray& array,
                     const ptx::Reg& held);
  ptx::Reg as_held(const StepArray& array, const ptx::Reg& value);

  const emulator::Kernel& kernel_;
  const ptx::Body& body_;
  const StepPlan& plan_;
  ptx::Code& code_;
  const ParameterNames parameter_names_;
  const Varying varying_;
  Names names_;
  std::map<ptx::InstId, Class> classes_;
  std::vector<ptx::InstId> values_; // the slice of values, sorted
  Renamed uniform_, reused_;
  std::vector<Conjunct> conjuncts_;
  std::map<ptx::InstId, unsigned> axes_; // of the guards' instructions: what they depend on
  std::set<ptx::RegId> several_;         // registers that are written in several places
  std::vector<ptx::RegId> wide_;         // coordinates in registers of 64 bits
  std::vector<ptx::RegId> numbers_;      // of StepPlan::rows
  struct Sized {                         // in 64 bits
    ptx::Reg elsewhere;
    std::array<ptx::Reg, 3> along;
  };
  std::map<ptx::RegId, Sized> sized_; // of StepPlan::sized
  ptx::Reg row_, values_of_pass_;
  bool has_uniform_loads_ = false, values_use_place_ = false;
};

} // namespace ptxasw::passes
