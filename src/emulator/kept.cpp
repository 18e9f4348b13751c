// By name of the function.
#include "emulator/kept.hpp"

#include "emulator/carry_over.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ptxasw::emulator {

Kernel Emulations::take(const ptx::Module& module, const ptx::Function& function) {
  if (const auto found = kept_.extract(std::string(function.name))) {
    std::optional<Kernel> kernel;
    if (&module == home_.get())
      kernel = std::move(found.mapped());
    else
      kernel = carried_over(found.mapped(), module, function);
    if (kernel) {
      kernel->context->allow(budget_.allowance());
      return std::move(*kernel);
    }
  }
  ++made_;
  return emulate(module, function, budget_);
}

void Emulations::give(Kernel kernel) {
  if (!kernel.context) return; // its terms are another one's
  const std::string name(kernel.body.function->name);
  if (kernel.body.module != home_.get()) {
    const auto function = std::ranges::find(home_->functions, name, &ptx::Function::name);
    if (function == home_->functions.end()) return;
    std::optional<Kernel> home = carried_over(kernel, *home_, *function);
    if (!home) return;
    kernel = std::move(*home);
  }
  kept_.insert_or_assign(name, std::move(kernel));
}

} // namespace ptxasw::emulator
