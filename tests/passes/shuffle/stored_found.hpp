// What a thread has stored itself, as the lane axis finds it in small kernels, for the tests.
#pragma once

#include "passes/shuffle/stored.hpp"

#include "passes/coarsen/tiles.hpp"
#include "passes/warp_reduce/trees.hpp"
#include "ptx/parse.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace ptxasw::test {

using Block = std::array<std::uint32_t, 3>;

struct FoundStored {
  ptx::Module module;
  emulator::Kernel kernel;
  passes::LanePlan plan;
};

// A known block is known to the emulator, too.
inline std::unique_ptr<FoundStored> found(const std::string& text, const Block& block = {},
                                          ForwardMode mode = ForwardMode::all,
                                          bool paranoid = false) {
  auto f = std::make_unique<FoundStored>();
  f->module = ptx::parse(text, "test.ptx");
  f->kernel = emulator::emulate(f->module, f->module.functions.at(0), {}, block);
  sym::Solver solver(*f->kernel.context, {.paranoid = paranoid});
  f->plan = passes::find_lane_reuse(f->kernel, solver,
                                    {.forward = mode, .paranoid = paranoid, .block = block});
  return f;
}

// The load of shared memory by number.
inline const passes::Load& load_of(const std::unique_ptr<FoundStored>& f, std::size_t n) {
  for (const passes::Load& load : f->plan.loads)
    if (f->kernel.trace.events[load.event].space == ptx::Space::shared && n-- == 0) return load;
  throw std::runtime_error("no such load");
}

inline std::string why_not(const std::string& text, const Block& block = {}, std::size_t n = 0) {
  const auto f = found(text, block);
  const passes::Load& load = load_of(f, n);
  return load.cover ? "" : load.kept.text;
}

inline Block limits(const std::string& text, const Block& block = {}) {
  const auto f = found(text, block);
  const passes::Load& load = load_of(f, 0);
  EXPECT_TRUE(load.cover) << load.kept.text;
  return load.cover ? load.cover->at_most : Block{9, 9, 9};
}

inline constexpr const char* plain = R"(
    st.shared.u32 [%r21], %r10;
    bar.sync 0;
    ld.shared.u32 %r11, [%r21];
    ld.shared.u32 %r12, [%r21+4];)";

inline std::string also(const std::string& between, const std::string& behind = "",
                        const Block& block = {64, 1, 1}) {
  return why_not(own(fmt::format(R"(
    st.shared.u32 [%r21], %r10;
    bar.sync 0;
    {}
    ld.shared.u32 %r11, [%r21];
    bar.sync 0;
    {})",
                                 between, behind)),
                 block);
}

} // namespace ptxasw::test
