// PTX under construction, as lines of text.
#pragma once

#include "ptx/build.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptxasw::passes {

struct Text : ptx::Code {
  using Code::Code;
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    statement(fmt::format(format, std::forward<Args>(args)...));
  }
};

} // namespace ptxasw::passes
