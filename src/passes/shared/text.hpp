// PTX under construction, line by line: each begins by breaking the one before it.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace ptxasw::passes {

struct Text {
  std::string all;
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    all += "\n\t";
    fmt::format_to(std::back_inserter(all), format, std::forward<Args>(args)...);
  }
  // For the place of an instruction, whose own line is broken already. Nothing is left.
  [[nodiscard]] std::string in_place() {
    constexpr std::string_view broken = "\n\t";
    if (all.starts_with(broken)) all.erase(0, broken.size());
    return std::exchange(all, {});
  }
  void label(std::string_view name) { fmt::format_to(std::back_inserter(all), "\n{}:", name); }
};

} // namespace ptxasw::passes
