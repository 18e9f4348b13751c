// Fresh registers by the name of their type.
#pragma once

#include "ptx/build.hpp"

#include <string>
#include <string_view>

namespace ptxasw::passes {

class Registers : public ptx::FreshRegisters {
public:
  using FreshRegisters::FreshRegisters;
  using FreshRegisters::make;
  std::string make(std::string_view type) { return make(type_of(type)).name; }

private:
  static ptx::Type type_of(std::string_view name) {
    using enum ptx::Type;
    for (const ptx::Type type :
         {pred, b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64, f16x2})
      if (ptx::name(type) == name) return type;
    return b32;
  }
};

} // namespace ptxasw::passes
