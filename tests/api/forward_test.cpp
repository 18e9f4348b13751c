// Loads of what the thread itself has stored to shared memory (--forward), as users ask for them:
// kernels that nvcc made, on the interpreter; and what ptxas must not be given to fuse or fold.
#include "passes/coarsen/tiles.hpp"
#include "ptxasw/ptxasw.hpp"
#include "simt/verify.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ptxasw {
namespace {

using simt::Dim3;
using test::own;
using ::testing::HasSubstr;
using ::testing::Not;

Options forwarding(ForwardMode mode) {
  Options options;
  options.shuffle = ShuffleMode::none;
  options.rounds = RoundsMode::none;
  options.forward = mode;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  return options;
}

std::string own_tiles() {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/api/own_tiles.ptx", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const KernelReport& kernel_of(const Report& report, std::string_view part) {
  const auto found = std::ranges::find_if(report.kernels, [&](const KernelReport& kernel) {
    return kernel.name.find(part) != std::string::npos;
  });
  if (found == report.kernels.end()) throw std::runtime_error("no such kernel");
  return *found;
}

struct Tile {
  const char* name;
  std::vector<Dim3> blocks;
  std::vector<std::string> facts;
};

const Tile tiles[] = {
    {"stencil", {{32, 8}, {16, 8}, {32, 4}}, {"%ntid.x <= 32", "%ntid.y <= 8", "%ntid.z <= 1"}},
    {"rows", {{256}, {128}}, {"%ntid.y <= 1", "%ntid.z <= 1"}},
    {"scan", {{256}, {64}, {100}}, {"%ntid.y <= 1", "%ntid.z <= 1"}},
};

TEST(Forward, KernelsThatNvccMade) {
  const std::string text = own_tiles();
  const Optimized optimized = optimize(text, "own_tiles.ptx", forwarding(ForwardMode::all));
  ASSERT_TRUE(optimized.changed);
  for (const Tile& tile : tiles) {
    const KernelReport& kernel = kernel_of(optimized.report, tile.name);
    EXPECT_EQ(kernel.moves, 1U) << tile.name;
    const auto moved = std::ranges::find(kernel.accesses, Outcome::moved, &AccessReport::outcome);
    ASSERT_NE(moved, kernel.accesses.end());
    std::vector<std::string> facts;
    for (const Fact& fact : moved->facts) {
      EXPECT_EQ(fact.kind, FactKind::checked);
      facts.push_back(fact.text);
    }
    EXPECT_EQ(facts, tile.facts);
    simt::VerifyOptions launches{.seed = 1,
                                 .launches = 8,
                                 .grids = {{2}, {2, 2}},
                                 .blocks = tile.blocks,
                                 .arguments = {"random:f32:65536:1", "zeros:65536", "66"},
                                 .alias = false,
                                 .schedules = 2};
    const simt::VerifyResult result = simt::verify(
        std::make_shared<const ptx::Module>(ptx::parse(text, "original.ptx")),
        std::make_shared<const ptx::Module>(ptx::parse(optimized.text, "rewritten.ptx")),
        kernel.name, launches);
    EXPECT_FALSE(result.failure) << simt::text_of(result, kernel.name);
    EXPECT_GT(result.equal, 4U) << simt::text_of(result, kernel.name);
  }
}

TEST(Forward, IsLeftAloneByDefault) {
  const Options options;
  EXPECT_EQ(options.forward, ForwardMode::none);
  Options none = forwarding(ForwardMode::none);
  EXPECT_FALSE(optimize(own_tiles(), "own_tiles.ptx", none).changed);
}

// Without any of both, the report says what could be.
TEST(Forward, ReportsOfWhatIsNotAskedFor) {
  Options options = forwarding(ForwardMode::none);
  options.shuffle_shared = true;
  const Optimized neither = optimize(own_tiles(), "own_tiles.ptx", options);
  EXPECT_FALSE(neither.changed);
  EXPECT_GT(kernel_of(neither.report, "rows").shuffles, 0U);
  options.forward = ForwardMode::all;
  const KernelReport rows =
      kernel_of(optimize(own_tiles(), "own_tiles.ptx", options).report, "rows");
  EXPECT_EQ(rows.shuffles, 0U);
  EXPECT_EQ(rows.moves, 1U);
}

TEST(Forward, AutoAsksNothingAtRunTime) {
  Options options = forwarding(ForwardMode::automatic);
  const Optimized unknown = optimize(own_tiles(), "own_tiles.ptx", options);
  EXPECT_FALSE(unknown.changed);
  options.block = {{32, 8, 1}};
  const Optimized known = optimize(own_tiles(), "own_tiles.ptx", options);
  ASSERT_TRUE(known.changed);
  EXPECT_EQ(kernel_of(known.report, "stencil").moves, 1U);
  EXPECT_EQ(kernel_of(known.report, "rows").moves, 0U); // eight rows of threads in one row
  EXPECT_THAT(known.text, Not(HasSubstr("%ptxasw_pred")));
}

// Whatever shuffles are asked for, and without anybody to read of it.
TEST(Forward, BesideShuffles) {
  for (const ShuffleMode mode : {ShuffleMode::none, ShuffleMode::all, ShuffleMode::automatic})
    for (const bool details : {true, false}) {
      Options options = forwarding(ForwardMode::all);
      options.shuffle = mode;
      options.details = details;
      const Optimized optimized = optimize(own_tiles(), "own_tiles.ptx", options);
      std::size_t count = 0;
      for (std::size_t at = 0;
           (at = optimized.text.find("which was stored", at)) != std::string::npos; ++at)
        ++count;
      EXPECT_EQ(count, 3U) << static_cast<int>(mode) << details;
    }
}

// As users run it. A product that is stored and a sum of what is loaded: ptxas could fuse the two.
TEST(ForwardRun, WhatPtxasCouldFuse) {
  const auto optimized = [](const std::string& operation, FpContract contract) {
    Options options = forwarding(ForwardMode::all);
    options.fp_contract = contract;
    return optimize(own(fmt::format(R"(
    cvt.rn.f32.u32 %f1, %r10;
    {} %f2, %f1, %f1;
    st.shared.f32 [%r21], %f2;
    bar.sync 0;
    ld.shared.f32 %f3, [%r21];
    add.f32 %f4, %f3, %f1;
    mov.b32 %r11, %f4;)",
                                    operation)),
                    "test.ptx", options);
  };
  EXPECT_TRUE(optimized("mul.rn.f32", FpContract::exact).changed);
  EXPECT_TRUE(optimized("add.f32", FpContract::exact).changed);
  EXPECT_TRUE(optimized("mul.f32", FpContract::any).changed);
  const Optimized kept = optimized("mul.f32", FpContract::exact);
  EXPECT_FALSE(kept.changed);
  const auto& accesses = kept.report.kernels.at(0).accesses;
  const auto load = std::ranges::find_if(accesses, [](const AccessReport& access) {
    return !access.is_store && access.space == "shared";
  });
  ASSERT_NE(load, accesses.end());
  EXPECT_EQ(load->kept.reason, Reason::fusing_unknown);
}

// A constant that is stored: a function of what is loaded could be folded.
TEST(ForwardRun, WhatPtxasCouldFold) {
  const auto changed = [](const std::string& value) {
    Options options = forwarding(ForwardMode::all);
    options.fp_contract = FpContract::exact;
    return optimize(own(fmt::format(R"(
    cvt.rn.f32.u32 %f1, %r10;
    mov.f32 %f2, {};
    st.shared.f32 [%r21], %f2;
    bar.sync 0;
    ld.shared.f32 %f3, [%r21];
    ex2.approx.f32 %f4, %f3;
    mov.b32 %r11, %f4;)",
                                    value)),
                    "test.ptx", options)
        .changed;
  };
  EXPECT_TRUE(changed("%f1"));
  EXPECT_FALSE(changed("0f3FC00000"));
}

} // namespace
} // namespace ptxasw
