// Reads the text that was written, and finds the kernel in it.
#include "passes/time_tile/other_kernel/other_kernel.hpp"

#include "analysis/liveness.hpp"
#include "ptx/written.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

std::string edited_text(const ptx::Body& body, std::vector<ptx::Edit> edits) {
  const ptx::Module& module = *body.module;
  for (const ptx::Function& function : module.functions) {
    if (&function == body.function || function.is_declaration) continue;
    edits.push_back({ptx::range_of(module, function), ""});
  }
  return ptx::print(module, edits);
}

ptx::Edit decided(const ptx::Body& body, ptx::InstId branch, bool is_taken) {
  const ptx::Range range = ptx::range_of(body, branch);
  const std::string_view text = body.module->slice(range);
  return {range, is_taken ? std::string(text.substr(text.find("bra"))) : ""};
}

std::vector<ptx::Edit> decided_branches(const emulator::Kernel& kernel) {
  const ptx::Body& body = kernel.body;
  const auto written = analysis::definitions(body);
  std::vector<ptx::Edit> edits;
  for (analysis::BlockId block = 0; block < kernel.cfg.blocks.size(); ++block) {
    const analysis::Block& code = kernel.cfg.blocks[block];
    if (code.first == code.end || !kernel.trace.executed[block]) continue;
    const ptx::Inst& branch = body.insts[code.end - 1];
    if (branch.op != ptx::Op::bra || branch.guard == ptx::none ||
        written[branch.guard].size() != 1 ||
        body.insts[written[branch.guard][0]].guard != ptx::none)
      continue;
    const auto made = std::ranges::find_if(kernel.trace.definitions, [&](const auto& definition) {
      return !definition.at_entry && definition.reg == branch.guard;
    });
    if (made == kernel.trace.definitions.end()) continue;
    const auto value = kernel.context->value(made->value);
    if (!value) continue;
    edits.push_back(decided(body, code.end - 1, (*value != 0) != branch.guard_negated));
  }
  return edits;
}

OtherKernel emulate_text(std::string text, const ptx::Body& of, const emulator::Budget& budget,
                         const std::array<std::uint32_t, 3>& shape, emulator::Follow follow) {
  OtherKernel made;
  made.module = std::make_shared<const ptx::Module>(ptx::parse(std::move(text), of.module->file));
  const auto function = std::ranges::find_if(made.module->functions, [&](const ptx::Function& one) {
    return one.is_entry && !one.is_declaration && one.name == of.function->name;
  });
  if (function == made.module->functions.end()) {
    made.refused = {Reason::step_form, "its text could not be read"};
    return made;
  }
  made.kernel = emulator::emulate(*made.module, *function, budget, shape, follow);
  made.refused = made.kernel.trace.refused;
  return made;
}

void know_shape(emulator::Kernel& kernel, const std::array<std::uint32_t, 3>& shape) {
  for (unsigned axis = 0; axis < 3; ++axis)
    kernel.trace.specials.try_emplace(ptx::along(ptx::Special::ntid_x, axis),
                                      kernel.context->constant(32, shape.at(axis)));
}

} // namespace ptxasw::passes
