// Does a compiler command really go through us? Hooks fail silently: a changed PATH alone does not
// reach nvcc, clang resolves a symbolic link, ccache answers from its cache, link-time optimization
// assembles inside the linker. So try it, on a kernel of our own.
#pragma once

#include "driver/environment.hpp"

#include <string>
#include <vector>

namespace ptxasw::driver {

struct SelfTestResult {
  int code = 0;     // 0: it does; 1: it does not; 2: the command failed before that was known
  std::string text; // for people: what was seen, and what to do
};

// `command` is a compiler with its options (nvcc, clang++, ccache nvcc, ...). Inputs, -o and -c in
// it are replaced by a small kernel in a folder of its own.
SelfTestResult self_test(const std::vector<std::string>& command, Environment environment);

} // namespace ptxasw::driver
