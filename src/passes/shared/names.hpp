// Register names that no part of the module uses.
#pragma once

#include "ptx/module.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

// Hands out registers of one function and writes their declarations. The common prefix is chosen so
// that it does not occur anywhere in the module's text.
class Registers {
public:
  // Two that hand out registers of one function need different stems.
  explicit Registers(const ptx::Module& module, std::string_view stem = "%ptxasw");

  std::string make(std::string_view type); // "pred", "b32", "b64", ...
  // Lines such as "\t.reg .b32 %ptxasw_b32_<4>;\n"; empty if none was made.
  [[nodiscard]] std::string declarations() const;

private:
  struct Pool {
    std::string type;
    unsigned count = 0;
  };
  std::string prefix_;
  std::vector<Pool> pools_;
};

} // namespace ptxasw::passes
