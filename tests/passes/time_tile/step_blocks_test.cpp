// Steps whose blocks have a tile with numbers beside the array, a size that is written in the
// program, or barriers at which nothing is handed on.
#include "passes/time_tile/any_host.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

std::string block_forms() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/blocks.ptx");
}

struct BlockForm {
  const char* kernel;
  const char* reads;
  const char* otherwise; // what is said of blocks of another shape; empty: they may have any
};

class StepsInBlocks : public ::testing::TestWithParam<BlockForm> {};

TEST_P(StepsInBlocks, LeaveTheSame) {
  const BlockForm row = GetParam();
  unsigned merged = 0;
  for (const passes::StepShape& shape :
       {passes::StepShape{.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4},
        {5, 64, 4, 8, 2}}) {
    const Stepped stepped(block_forms(), row.kernel, shape);
    EXPECT_EQ(offsets_text(stepped.plan), row.reads);
    ASSERT_EQ(stepped.entry.refused.text, "");
    if (shape.columns == 4)
      test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("blocks_{}", row.kernel));
    for (const auto& [nx, ny] :
         {std::pair{1U, 1U}, {2U, 2U}, {3U, 3U}, {5U, 7U}, {33U, 17U}, {70U, 35U}, {96U, 97U}}) {
      StepHost host = host_for(stepped, nx, ny, {16, 8, 1}, nx);
      if (row.kernel == std::string("written_size")) // its rows are along x
        host.grid = {(ny + 15) / 16, (nx + 7) / 8};
      if (!host.fit_error().empty()) {
        EXPECT_LT(nx, 7U) << host.fit_error();
        continue;
      }
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
      EXPECT_TRUE(host.loads_what_single_ones_touch(shape.count + 3)) << nx << 'x' << ny;
    }
    StepHost other = host_for(stepped, 70, 70, {16, 8, 1}, 1);
    EXPECT_EQ(other.fit_error(), "");
    other.block.x /= 2;
    other.grid.x *= 2;
    EXPECT_EQ(other.fit_error(), row.otherwise);
  }
  EXPECT_GE(merged, 6U);
}

constexpr const char* four_neighbours = "0(-1,0,0) 0(0,-1,0) 0(0,1,0) 0(1,0,0)";
constexpr const char* with_own = "0(-1,0,0) 0(0,-1,0) 0(0,0,0) 0(0,1,0) 0(1,0,0)";

INSTANTIATE_TEST_SUITE_P(T, StepsInBlocks,
                         ::testing::Values(BlockForm{"zero_rim", with_own,
                                                     "its tile is for blocks of another shape"},
                                           BlockForm{"signed_rim", four_neighbours,
                                                     "its tile is for blocks of another shape"},
                                           BlockForm{"written_size", four_neighbours,
                                                     "it is for blocks of another shape"},
                                           BlockForm{"idle", four_neighbours, ""}),
                         [](const auto& row) { return std::string(row.param.kernel); });

std::string refusal(std::string text, const char* kernel_name, const std::string& some,
                    const std::string& other) {
  const auto at = text.find(some, text.find(fmt::format(".entry {}(", kernel_name)));
  EXPECT_NE(at, std::string::npos) << some;
  const auto module = test::parsed(text.replace(at, some.size(), other));
  emulator::Kernel kernel = test::emulate(*module, kernel_name);
  const Why refused = passes::StepKernel(kernel, {.time = std::chrono::seconds(30)}).find().refused;
  EXPECT_NE(refused.text, "");
  const auto behind = refused.text.find(": ");
  return behind == std::string::npos ? refused.text : refused.text.substr(behind + 2);
}

// It hangs on the thread, not on its place, where the tile holds a number.
TEST(StepsInBlocksRefused, WhereSomeThreadsHaveANumber) {
  const std::string text = block_forms();
  const auto zero_rim = text.find(".entry zero_rim(");
  const std::string store = "st.shared.f32";
  const auto begin = text.find(store, zero_rim), end = text.find(';', begin) + 1;
  const std::string first = text.substr(begin, end - begin);
  EXPECT_EQ(refusal(text, "zero_rim", first,
                    first + "\nmov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 7;\n@%p1 " + store +
                        first.substr(store.size(), first.find(',') - store.size()) +
                        ", 0f00000000;"),
            "places of the tile hold other elements");
}

// Only some of the threads wait, or they find out something together.
TEST(StepsInBlocksRefused, WhereBarriersDoMore) {
  const std::string text = block_forms();
  EXPECT_EQ(refusal(text, "idle", "bar.sync \t0;", "bar.sync \t0, 64;"), "waits for other threads");
  EXPECT_EQ(refusal(text, "idle", "bar.sync \t0;", "barrier.cluster.arrive;"),
            "waits for other threads");
  EXPECT_EQ(refusal(text, "idle", "bar.sync \t0;", "bar.red.and.pred %p1, 0, %p1;"),
            "waits for other threads");
}

} // namespace
} // namespace ptxasw
