// Reads the text that was written, and finds the kernel in it.
#include "passes/time_tile/other_kernel/other_kernel.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

std::string edited_text(const ptx::Body& body, std::vector<ptx::Edit> edits) {
  const ptx::Module& module = *body.module;
  for (const ptx::Function& function : module.functions) {
    if (&function == body.function || function.is_declaration) continue;
    const auto code = module.body_of(function);
    edits.push_back(
        {{module.statements[function.statement].range.begin, code.back().range.end}, ""});
  }
  return ptx::print(module, edits);
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

} // namespace ptxasw::passes
