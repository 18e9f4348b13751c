// How to put this program in the place of ptxas, compiler by compiler, and which of it was tried.
// tools/hooks/ holds the scripts that try it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ptxasw::driver {

struct Hook {
  std::string_view name, what;
  std::string_view settings; // {0} stands for this program, DIR for an overlay toolkit
  std::string_view tried;    // how it is known to work
};

std::span<const Hook> hooks();
const Hook* find_hook(std::string_view name); // nullptr if there is none
std::string describe(const Hook& hook, const std::string& self);
std::string list_hooks();

} // namespace ptxasw::driver
