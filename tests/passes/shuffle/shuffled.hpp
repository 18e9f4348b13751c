// A small kernel, shuffled, and the comparison of the two on the interpreter.
#pragma once

#include "passes/shuffle/shuffle.hpp"

#include "passes/shared/applied.hpp"
#include "passes/shared/found.hpp"
#include "simt/trap_case.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ptxasw::test {

struct Shuffled {
  unsigned covered = 0;
  std::string original, text;

  explicit Shuffled(std::string source, Emit emit = Emit::normal, std::size_t function = 0)
      : original(std::move(source)) {
    Found found(original, {}, function);
    const auto edits = passes::shuffle(found.emulated.kernel, found.plan, emit);
    for (const passes::Load& load : found.plan.loads)
      covered += load.cover ? 1 : 0;
    text = applied(found.emulated.kernel, edits);
  }
  // What differs when it runs; the first two arguments are the arrays of the traps.
  [[nodiscard]] std::string
  difference(simt::Dim3 block, std::uint32_t n, std::uint32_t m, std::string in = "in",
             std::string memory = "",
             const std::vector<simt::Schedule>& schedules = simt::trap_schedules()) const {
    const simt::TrapCase launch{
        .name = "k",
        .text = original,
        .grid = {1},
        .block = block,
        .arguments = {std::move(in), "out", std::to_string(n), std::to_string(m)},
        .memory = std::move(memory)};
    return simt::compare(launch, text, schedules);
  }
};

// %rd50: 32 bytes of `out` for each thread of the block. %rd4 = in + 4 * tid.x.
inline constexpr const char* prologue = R"(
    mov.u32 %r50, %tid.y;
    mov.u32 %r51, %ntid.x;
    mad.lo.s32 %r50, %r50, %r51, %r3;
    mul.wide.u32 %rd50, %r50, 32;
    add.s64 %rd50, %rd2, %rd50;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
)";

inline std::string kernel(const std::string& body) {
  return kernel_text(prologue + body + "\nret;");
}

} // namespace ptxasw::test
