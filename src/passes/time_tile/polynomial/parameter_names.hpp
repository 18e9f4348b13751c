// What the parameters of a kernel are called in an entry that has those of several kernels.
//
// By their own names, which no two kernels share. A kernel of which an entry has the parameters
// several times has other names for each but the first.
#pragma once

#include "ptx/body.hpp"

#include <string>
#include <string_view>

namespace ptxasw::passes {

class ParameterNames {
public:
  // `behind`: follows each of the names.
  explicit ParameterNames(const ptx::Body& body, std::string behind = "")
      : function_(*body.function), behind_(std::move(behind)) {}

  [[nodiscard]] std::string name(unsigned number) const {
    return std::string(function_.parameters[number].name) + behind_;
  }
  // Text of the kernel, as it says this.
  [[nodiscard]] std::string in(std::string_view text) const;

private:
  const ptx::Function& function_;
  std::string behind_;
};

} // namespace ptxasw::passes
