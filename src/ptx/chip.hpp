// Which chip a module is for.
#pragma once

#include "ptx/module.hpp"

#include <charconv>
#include <string_view>

namespace ptxasw::ptx {

// 90 of "sm_90a"; 0: another kind of target.
inline unsigned chip_of(const Module& module) {
  std::string_view target = module.target;
  unsigned chip = 0;
  if (!target.starts_with("sm_")) return 0;
  target.remove_prefix(3);
  std::from_chars(target.data(), target.data() + target.size(), chip);
  return chip;
}

} // namespace ptxasw::ptx
