// Registers and spills stand in the messages, the rest in the machine code.
#include "oracle/kernel_usage.hpp"

#include "oracle/assembler.hpp"
#include "oracle/straight_path.hpp"
#include "sass/machine_code.hpp"

#include <utility>

namespace ptxasw::oracle {

std::map<std::string, MadeKernel> kernels_made(const std::optional<Assembled>& assembled,
                                               const target::Profile& profile) {
  std::map<std::string, MadeKernel> result;
  if (!assembled) return result;
  auto codes = sass::decoded(assembled->cubin);
  for (const auto& [name, usage] : read_usage(assembled->messages)) {
    if (!usage) continue;
    MadeKernel& kernel = result[name] = {*usage, {}};
    if (const auto code = codes.find(name); code != codes.end()) {
      kernel.code = std::move(code->second);
      kernel.usage.path = straight_path(kernel.code, profile.coarsen.load_latency);
    }
  }
  return result;
}

} // namespace ptxasw::oracle
