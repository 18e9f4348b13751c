// What the block axis finds in small kernels, for the tests.
#pragma once

#include "emulator/kernel_text.hpp"
#include "passes/coarsen/find/block.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace ptxasw::test::block {

struct Found {
  Emulated emulated;
  passes::BlockPlan plan;

  explicit Found(std::string text, passes::BlockOptions options = {.factors = {1, 2, 1}},
                 std::size_t function = 0)
      : emulated(std::move(text), function) {
    sym::Context none; // a kernel that was refused has no terms
    sym::Solver solver(emulated.kernel.context ? *emulated.kernel.context : none,
                       {.paranoid = options.paranoid});
    plan = passes::find_block_reuse(emulated.kernel, solver, options);
  }
  // One word for each copy of each load: "load", or "L.C": the value of load L in copy C; "?" where
  // it rests on the bound, "'" where the register does not keep it, "|" where that copy was there.
  [[nodiscard]] std::vector<std::string> sources() const {
    std::vector<std::string> result;
    for (const passes::BlockLoad& load : plan.loads) {
      std::string line;
      for (const passes::CopyLoad& copy : load.copies) {
        line += line.empty() ? "" : " ";
        line += copy.from ? fmt::format("{}.{}", copy.from->load, copy.from->copy) : "load";
        line += copy.bounded ? "?" : "";
        line += copy.needs_copy ? "'" : "";
        line += copy.if_entered ? "|" : "";
      }
      result.push_back(line);
    }
    return result;
  }
};

// %r4 = %ctaid.y, %r5 = x + n*%ctaid.y, %rd4 = &in[%r5], %rd5 = &out[%r5], %rd6 = &in[%r5 + n].
inline constexpr const char* by_row = R"(
    mov.u32 %r4, %ctaid.y;
    mad.lo.s32 %r5, %r4, %r1, %r3;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    add.s32 %r6, %r5, %r1;
    mul.wide.s32 %rd7, %r6, 4;
    add.s64 %rd6, %rd1, %rd7;
)";

inline Found find(const std::string& body, passes::BlockOptions options = {.factors = {1, 2, 1}}) {
  return Found(kernel_text(by_row + body), options);
}

} // namespace ptxasw::test::block
