// Registers and spills stand in the messages, the rest in the machine code.
#include "pipeline/kernel_usage.hpp"

#include "cost/straight_path.hpp"
#include "machine/assembler.hpp"
#include "machine/machine_code.hpp"

namespace ptxasw::pipeline {

std::map<std::string, KernelUsage> kernel_usages(const std::optional<Assembled>& assembled,
                                                 const cost::Profile& profile) {
  std::map<std::string, KernelUsage> result;
  if (!assembled) return result;
  const auto code = machine::machine_code(assembled->cubin);
  for (const auto& [name, usage] : machine::read_usage(assembled->messages)) {
    if (!usage) continue;
    KernelUsage& kernel = result[name];
    kernel.registers = usage->registers;
    kernel.stack = usage->stack;
    kernel.spill_stores = usage->spill_stores;
    kernel.spill_loads = usage->spill_loads;
    const auto text = code.find(name);
    if (text == code.end()) continue;
    const auto path = cost::straight_path(text->second, profile.coarsen.load_latency);
    kernel.path = path.instructions;
    kernel.stores = path.stores;
    kernel.latency = path.latency;
  }
  return result;
}

} // namespace ptxasw::pipeline
