// Registers and spills stand in the messages, the rest in the machine code.
#include "pipeline/kernel_usage.hpp"

#include "cost/straight_path.hpp"
#include "machine/assembler.hpp"
#include "machine/machine_code.hpp"

namespace ptxasw::pipeline {

std::map<std::string, Usage> kernel_usages(const std::optional<Assembled>& assembled,
                                           const cost::Profile& profile) {
  std::map<std::string, Usage> result;
  if (!assembled) return result;
  const auto code = machine::machine_code(assembled->cubin);
  for (const auto& [name, usage] : machine::read_usage(assembled->messages)) {
    if (!usage) continue;
    Usage& kernel = result[name] = *usage;
    if (const auto text = code.find(name); text != code.end()) {
      kernel.path = cost::straight_path(text->second, profile.coarsen.load_latency);
      kernel.shortest = cost::shortest_path(text->second, profile.coarsen.load_latency);
      kernel.loops = cost::loop_paths(text->second);
    }
  }
  return result;
}

} // namespace ptxasw::pipeline
