// What a block leads to, and the blocks between a branch and where its ways have joined.
#include "analysis/bodies.hpp"
#include "analysis/reachability.hpp"

#include <gmock/gmock.h>

namespace ptxasw::analysis {
namespace {

using ptx::Op;
using testing::ElementsAre;

std::vector<BlockId> between(const ptx::Body& body, BlockId branch) {
  const std::vector<bool> ways = influence_region(build_cfg(body), branch);
  std::vector<BlockId> ids;
  for (BlockId b = 0; b < ways.size(); ++b)
    if (ways[b]) ids.push_back(b);
  return ids;
}

TEST(Ways, SidesOfADiamondWithoutWhatFollows) {
  const ptx::Body body =
      BodyBuilder().branch(3, 0).op(Op::mov).branch(4).op(Op::mov).op(Op::mov).op(Op::ret).body();
  EXPECT_THAT(between(body, 0), ElementsAre(1, 2));
}

TEST(Ways, ALatchIsOnAWayFromItself) {
  const ptx::Body body =
      BodyBuilder().op(Op::mov).op(Op::add).branch(1, 0).op(Op::mov).op(Op::ret).body();
  EXPECT_THAT(between(body, 1), ElementsAre(1));
}

TEST(Ways, AThreadThatReturnsLeavesAllThatFollowsToTheOthers) {
  const ptx::Body body =
      BodyBuilder().op(Op::ret, {}, {}, 0).op(Op::mov).branch(4, 1).op(Op::mov).op(Op::ret).body();
  EXPECT_THAT(between(body, 0), ElementsAre(1, 2, 3));
}

TEST(Ways, NothingOfOneSuccessor) {
  const ptx::Body body = BodyBuilder().op(Op::mov).branch(2).op(Op::mov).op(Op::ret).body();
  EXPECT_TRUE(between(body, 0).empty());
}

TEST(Reached, GoesAroundTheBlockThatStopsIt) {
  const ptx::Body body =
      BodyBuilder().branch(3, 0).op(Op::mov).branch(4).op(Op::mov).op(Op::mov).op(Op::ret).body();
  const Cfg cfg = build_cfg(body);
  EXPECT_THAT(reached_from(cfg, 0), ElementsAre(false, true, true, true, true));
  EXPECT_THAT(reached_from(cfg, 0, 2), ElementsAre(false, true, false, true, true));
}

TEST(Worklist, GivesOutEachNodeOnceAndTheStartAgainOnlyIfItIsFound) {
  Worklist work(4, {2});
  work.skip(3);
  EXPECT_EQ(work.next(), 2U);
  EXPECT_TRUE(work.add(0));
  EXPECT_FALSE(work.add(0));
  EXPECT_FALSE(work.add(3));
  work.add({0, 2});
  EXPECT_EQ(work.next(), 2U);
  EXPECT_EQ(work.next(), 0U);
  EXPECT_EQ(work.next(), std::nullopt);
  EXPECT_THAT(work.found(), ElementsAre(true, false, true, true));
}

} // namespace
} // namespace ptxasw::analysis
