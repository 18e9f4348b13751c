// What those who look at a stretch that may be a tree have in common (find.hpp).
#pragma once

#include "emulator/emulate.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace ptxasw::passes {

class TreeView {
public:
  [[nodiscard]] const std::string& why() const { return why_; } // it is none

protected:
  explicit TreeView(emulator::Kernel& kernel)
      : k_(kernel), c_(*kernel.context), t_(kernel.trace.special(ptx::Special::tid_x)) {}

  template <class... Args> bool refuse(fmt::format_string<Args...> format, Args&&... args) {
    why_ = fmt::format(format, std::forward<Args>(args)...);
    return false;
  }
  [[nodiscard]] std::uint32_t line(ptx::InstId inst) const {
    return ptx::line_of(k_.body, k_.body.insts[inst]);
  }
  [[nodiscard]] const emulator::Event& event(std::size_t e) const { return k_.trace.events[e]; }
  [[nodiscard]] sym::Term number(unsigned n) { return c_.constant(32, n); }

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Term t_; // %tid.x
  std::string why_;
};

} // namespace ptxasw::passes
