// What is proposed for real kernels over a linear index.
#include "passes/remap/linear_loads.hpp"

#include "ptx/parse.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace ptxasw;

namespace {

struct Loads {
  std::vector<passes::LinearLoad> all;
  [[nodiscard]] auto count(bool x, bool y, bool shared) const {
    return std::ranges::count_if(all, [&](const passes::LinearLoad& load) {
      return load.follows_x == x && load.follows_y == y && load.shares_line == shared;
    });
  }
};

Loads loads_of(const std::string& file, std::array<std::uint32_t, 3> block = {}) {
  std::ifstream in(std::string(PTXASW_SOURCE_DIR) + "/" + file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const ptx::Module module = ptx::parse(text, file);
  auto kernel = emulator::emulate(module, module.functions.front(), {}, block);
  const auto index = passes::find_linear_index(kernel);
  EXPECT_EQ(index.refused.text, "");
  return {passes::linear_loads(kernel, index)};
}

} // namespace

// Four trips in one: four neighbours of the row of the first matrix, four rows of the second one.
TEST(LinearLoads, AProductFollowsOneCoordinateEach) {
  for (const std::uint32_t threads : {0U, 128U}) { // not known, promised
    const Loads loads = loads_of("tests/golden/ptx/mm_naive.ptx", {threads, 1, 1});
    EXPECT_EQ(loads.count(false, true, false), 1);
    EXPECT_EQ(loads.count(false, true, true), 3);
    EXPECT_EQ(loads.count(true, false, false), 4);
    EXPECT_EQ(loads.all.size(), 8U);
    EXPECT_EQ(passes::propose_columns(*target::find_profile("sm_90"), loads.all).width, 64U);
  }
}

// Two rows of nine in one trip.
TEST(LinearLoads, AStencilFollowsBoth) {
  const Loads loads = loads_of("tests/golden/ptx/box9.ptx");
  EXPECT_EQ(loads.count(true, true, true), 16);
  EXPECT_EQ(loads.count(true, true, false), 2);
  EXPECT_EQ(loads.all.size(), 18U);
  EXPECT_EQ(passes::propose_columns(*target::find_profile("sm_90"), loads.all).width, 0U);
}

TEST(LinearLoads, OnlyThoseOfLoopsCount) {
  EXPECT_TRUE(loads_of("bench/cache/stencil7.ptx").all.empty());
}
