// The text of an entry for T steps: what both kinds of entries have, regions that lie in registers
// (steps_writer.hpp) and columns that are streamed through (steps_stream.hpp).
#pragma once

#include "rewrite/steps.hpp"
#include "rewrite/steps_body.hpp"

#include <array>
#include <string>
#include <string_view>

namespace ptxasw::rewrite {

class StepBase {
public:
  static constexpr std::string_view threads_parameter = "ptxasw_step_threads",
                                    tile_name = "ptxasw_step_tile";

  StepBase(const emulator::Kernel& kernel, const reuse::StepPlan& plan, const StepShape& shape,
           std::string name);

protected:
  std::string b32() { return registers_.make("b32"); }
  std::string b64() { return registers_.make("b64"); }
  std::string predicate() { return registers_.make("pred"); }
  std::string plus(const std::string& a, long n);
  std::string widened(const std::string& a);
  std::string number(const reuse::Whole& whole);
  std::string added(const std::string& a, const std::string& b);
  std::string parameter(const reuse::Quantity& quantity);
  std::string begin_of(unsigned parameter_number);
  std::string element(unsigned n, const StepBody::Place& place);
  std::string inside(const StepBody::Place& place);
  std::string is_aligned(const std::string& address, const std::string& row_stride, unsigned bytes);
  [[nodiscard]] std::string move_type(const reuse::StepArray& array) const;
  // `covers`: as the contract says it; `shared`: declarations.
  void finish(unsigned block, const std::array<unsigned, 3>& covers, const std::string& shared);

  const ptx::Module& module_;
  const emulator::Kernel& kernel_;
  const reuse::StepPlan& plan_;
  const StepShape& shape_;
  std::string name_;
  StepEntry entry_;

  Registers registers_;
  Text text_;
  StepBody body_;
  std::string labels_;
  StepBody::Place limit_; // threads of the original launch
};

} // namespace ptxasw::rewrite
