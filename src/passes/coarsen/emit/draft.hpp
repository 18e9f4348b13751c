// A coarsened kernel under construction: what its parts are written with.
#pragma once

#include "passes/coarsen/emit/axes.hpp"
#include "passes/coarsen/emit/coarsen.hpp"
#include "passes/coarsen/emit/replica_names.hpp"
#include "passes/shared/bindings.hpp"
#include "ptx/build.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::passes {

struct Draft {
  Draft(const emulator::Kernel& kernel, const BlockPlan& block_plan, CoarsenGrid grid,
        CoarsenReport& counted);

  [[nodiscard]] const ptx::Inst& inst_of(const BlockLoad& load) const {
    return body.insts[k.trace.events[load.event].inst];
  }
  // Variables in shared memory are declared ahead of all forms.
  [[nodiscard]] bool is_shared(const ptx::Statement& statement) const;
  // What a mention of neither a register nor a variable becomes, where `instead` may stand for a
  // special register.
  [[nodiscard]] std::string special_name(const ptx::Mention& mention,
                                         const std::optional<ptx::Reg>& instead) const;
  // Behind a form of the body, which begins with a brace.
  void close_body();

  const emulator::Kernel& k;
  const ptx::Body& body;
  const ptx::Module& module;
  const BlockPlan& plan;
  CoarsenReport& report;
  Names original;  // the kernel's own registers
  CopyNames names; // those of each copy
  ptx::FreshRegisters registers;
  // By load and copy: what keeps a value whose register is written again before it is needed.
  std::map<std::pair<std::size_t, unsigned>, std::vector<ptx::Reg>> kept;
  FrameLabels labels;
  CopyAxes axes;
  std::span<const ptx::Statement> inside; // the body without its braces
  ptx::Code code;

private:
  void find_kept_values();
};

// The parameter with the sizes of the original grid, where the launcher divides it.
inline constexpr std::string_view grid_parameter = "ptxasw_original_grid";

} // namespace ptxasw::passes
