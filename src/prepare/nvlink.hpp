// The linker beside a ptxas: it makes of one relocatable cubin (ptxas -c) what a driver's linker
// makes of one PTX text.
#pragma once

#include <optional>
#include <string>

namespace ptxasw::prepare {

// Nothing: there is none.
[[nodiscard]] std::optional<std::string> find_nvlink(const std::string& ptxas);

struct LinkedCubin {
  std::string cubin;   // empty: it made none
  int interrupted = 0; // the signal that we were sent meanwhile
};
[[nodiscard]] LinkedCubin link(const std::string& nvlink, const std::string& chip,
                               const std::string& part);

} // namespace ptxasw::prepare
