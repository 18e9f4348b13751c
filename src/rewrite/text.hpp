// PTX under construction, line by line.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace ptxasw::rewrite {

struct Text {
  std::string all;
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    all += "\n\t";
    fmt::format_to(std::back_inserter(all), format, std::forward<Args>(args)...);
  }
  void label(std::string_view name) { fmt::format_to(std::back_inserter(all), "\n{}:", name); }
};

} // namespace ptxasw::rewrite
