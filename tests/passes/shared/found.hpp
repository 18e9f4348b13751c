// What the lane axis finds in small kernels, for the tests.
#pragma once

#include "passes/shuffle/lane.hpp"

#include "emulator/kernel_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptxasw::test {

struct Found {
  Emulated emulated;
  passes::LanePlan plan;

  explicit Found(std::string text, passes::LaneOptions options = {}, std::size_t function = 0)
      : emulated(std::move(text), function) {
    sym::Solver solver(*emulated.kernel.context, {.paranoid = options.paranoid});
    plan = passes::find_lane_reuse(emulated.kernel, solver, options);
  }
  [[nodiscard]] const passes::ReuseSource& cover(std::size_t load) const {
    const auto& found = plan.loads.at(load).cover;
    if (!found) ADD_FAILURE() << "kept: " << plan.loads.at(load).kept.text;
    static const passes::ReuseSource nothing{};
    return found ? *found : nothing;
  }
  [[nodiscard]] bool covered(std::size_t load) const {
    return plan.loads.at(load).cover.has_value();
  }
  [[nodiscard]] std::string kept(std::size_t load) const { return plan.loads.at(load).kept; }
};

// %rd4 = in + 4*tid.x, no wrap possible.
inline constexpr const char* by_tid = R"(
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
)";

inline Found find(const std::string& body, passes::LaneOptions options = {}) {
  return Found(kernel_text(by_tid + body), options);
}

} // namespace ptxasw::test
