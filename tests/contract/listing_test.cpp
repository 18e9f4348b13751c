// Every entry beside the kernel is listed once, with what it does and from which size it gains.
#include "contract/listing.hpp"

#include <gmock/gmock.h>

namespace ptxasw::contract {
namespace {

using testing::ElementsAre;

TEST(Listing, EachEntryOnceWithItsNames) {
  const Contract contract{
      .kernel = "k",
      .variants =
          {{.entry = "k", .name = "original"},
           {.entry = "k_standard", .name = "standard", .kind = Kind::rewritten},
           {.entry = "k_x2y4",
            .name = "x:2,y:4",
            .kind = Kind::coarsened,
            .divide = {2, 4, 1},
            .rest = Rest::hangs_over,
            .gains = {{64, {0.9, 1.05, 1.2}}, {256, {0.5, 1.1, 1.4, 1.3}}}},
           {.entry = "k_reshaped", .name = "block:32x8x1", .kind = Kind::reshaped},
           {.entry = "k_reshaped", .name = "block:64x4x1", .kind = Kind::reshaped},
           {.entry = "k_swap", .name = "thread-swap:32", .kind = Kind::remapped, .rows = {32, 1}}},
      .steps = {{.entry = "k_steps9", .count = 9, .covers = {104, 46, 1}},
                {.entry = "k_told", .count = 9, .is_told = true},
                {.entry = "k_told", .count = 5, .is_told = true}}};
  const std::vector<Listed> all = versions_of(contract, 1.08);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].entry, "k_standard");
  EXPECT_EQ(all[0].gain, 0);
  EXPECT_THAT(all[1].names, ElementsAre("x:2,y:4"));
  EXPECT_EQ(all[1].what, "one block does the work of 2 along x and 4 along y");
  EXPECT_EQ(all[1].gain, 1.4);
  EXPECT_EQ(all[1].threads, 256U);
  EXPECT_EQ(all[1].from_waves, waves[1]) << "1.05 is not worth it, 1.1 is";
  EXPECT_THAT(all[2].names, ElementsAre("block:32x8x1", "block:64x4x1"));
  EXPECT_EQ(all[2].from_waves, 0);
  EXPECT_EQ(all[3].what, "its threads walk along another axis");
  EXPECT_THAT(all[4].names, ElementsAre("steps:9"));
  EXPECT_EQ(all[4].what, "9 time steps in one launch, 104x46x1 points a block");
  EXPECT_TRUE(all[4].is_steps);
  EXPECT_THAT(all[5].names, ElementsAre("steps:9", "steps:5"));
  EXPECT_EQ(all[5].what, "as many time steps in one launch, 1x1x1 points a block");
  EXPECT_FALSE(all[1].is_steps);
}

TEST(Listing, TheKernelItselfIsNone) {
  EXPECT_TRUE(
      versions_of({.kernel = "k", .variants = {{.entry = "k", .name = "original"}}}, 1).empty());
  EXPECT_TRUE(versions_of({}, 1).empty());
}

} // namespace
} // namespace ptxasw::contract
