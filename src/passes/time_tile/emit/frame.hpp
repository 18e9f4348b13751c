// What entries for several time steps have in common, however they go through the grid: parameters,
// numbers, the header and the contract. For steps.cpp and planes.cpp.
#pragma once

#include "passes/time_tile/emit/body.hpp"
#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

// The target has griddepcontrol.
bool may_begin_early(const ptx::Module& module);
// The whole function around `code`; `header` ends behind its parameters.
std::string function_text(std::string_view header, const StepShape& shape, unsigned threads,
                          unsigned shared, const ptx::FreshRegisters& registers,
                          const ptx::Code& code);
// An entry that several files may have and the linker keeps once (.weak), with its tile as a
// variable that it keeps once, too: of what entries declare within themselves nvlink takes the sum
// over all files.
std::string with_tile_of_module(std::string text, std::string_view entry);
// "a list of declarations": the kernel's own parameters.
std::string own_parameters(const ptx::Module& module, const ptx::Function& kernel);

class StepFrame {
public:
  static constexpr std::string_view threads_parameter = "ptxasw_step_threads",
                                    arrays_parameter = "ptxasw_step_arrays",
                                    tile_name = "ptxasw_step_tile";

protected:
  StepFrame(const emulator::Kernel& kernel, const StepPlan& plan, const StepShape& shape,
            std::string name);

  ptx::Reg plus(const ptx::Reg& a, long n); // a + n
  ptx::Reg widened(const ptx::Reg& a);
  // The number that a polynomial without coordinates is, modulo 2^64.
  ptx::Reg number(const IntegerPolynomial& whole) { return numbers_.number(whole); }
  ptx::Reg added(const ptx::Reg& a, const ptx::Reg& b);
  ptx::Reg begin_of(unsigned part) { return numbers_.begin_of(part); }
  ptx::Reg begin_at(const ptx::Memory& place); // in the parameter space
  // What the bound's coordinate is compared with: written where it is first asked for.
  const ptx::Reg& end_of(const Bound& bound);
  ptx::Reg holds(const Bound& bound, const ptx::Reg& coordinate);
  // Those of the axis, or those of the others, hold at the place, and so does `all` (empty: that is
  // not asked).
  ptx::Reg within(const std::vector<Bound>& bounds, const StepBody::Place& place, unsigned axis,
                  bool along, ptx::Reg all);
  [[nodiscard]] bool may_wait() const { return may_begin_early(module_); }
  // What the lane so far behind this one, or in front of it, has in a register of so many bytes; at
  // the ends of a warp some value.
  void from_lane(const ptx::Reg& value, unsigned bytes, int far, const ptx::Reg& into);

  // The whole function around code_.
  [[nodiscard]] std::string whole_function(unsigned threads, unsigned shared) const;
  // All that follows from the plan.
  [[nodiscard]] contract::Steps made_contract() const;

  const ptx::Module& module_;
  const emulator::Kernel& kernel_;
  const StepPlan& plan_;
  const StepShape& shape_;
  std::string name_;

  ptx::FreshRegisters registers_;
  ptx::Code code_;
  PolynomialCode numbers_;
  StepBody body_;
  std::string labels_;

private:
  [[nodiscard]] std::string parameters_behind() const;

  std::map<std::string, ptx::Reg> ends_; // of bounds, by what they are
};

} // namespace ptxasw::passes
