// The loop forest on the shapes that matter: nests, several latches, irreducible graphs.
#include "analysis/bodies.hpp"
#include "analysis/cfg.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace ptxasw::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

LoopForest loops_of(const std::vector<std::vector<ptx::InstId>>& succs) {
  return find_loops(build_cfg(graph(succs)));
}

TEST(Loops, NoneInADiamond) {
  const LoopForest forest = loops_of({{1, 2}, {3}, {3}, {}});
  EXPECT_THAT(forest.loops, IsEmpty());
  EXPECT_FALSE(forest.irreducible);
}

TEST(Loops, OneBlockLoop) {
  const LoopForest forest = loops_of({{1}, {1, 2}, {}});
  ASSERT_EQ(forest.loops.size(), 1U);
  EXPECT_THAT(forest.loops[0].blocks, ElementsAre(1));
  EXPECT_THAT(forest.loops[0].latches, ElementsAre(1));
  EXPECT_THAT(forest.loops[0].exits, ElementsAre(Pair(1, 2)));
  EXPECT_TRUE(forest.contains(0, 1));
  EXPECT_FALSE(forest.contains(0, 2));
}

TEST(Loops, NestKnowsParentsAndDepths) {
  // 1 is the outer header, 2 the inner one; 3 leaves the inner, 4 the outer.
  const LoopForest forest = loops_of({{1}, {2}, {2, 3}, {1, 4}, {}});
  ASSERT_EQ(forest.loops.size(), 2U);
  EXPECT_EQ(forest.loops[0].header, 1U);
  EXPECT_THAT(forest.loops[0].blocks, ElementsAre(1, 2, 3));
  EXPECT_EQ(forest.loops[1].header, 2U);
  EXPECT_EQ(forest.loops[1].parent, 0U);
  EXPECT_EQ(forest.loops[1].depth, 2U);
  EXPECT_EQ(forest.innermost[2], 1U);
  EXPECT_EQ(forest.innermost[3], 0U);
  EXPECT_TRUE(forest.contains(0, 2));
  EXPECT_FALSE(forest.contains(1, 3));
}

TEST(Loops, SeveralLatchesMakeOneLoop) {
  const LoopForest forest = loops_of({{1}, {2, 3}, {1}, {1, 4}, {}});
  ASSERT_EQ(forest.loops.size(), 1U);
  EXPECT_THAT(forest.loops[0].latches, ElementsAre(2, 3));
  EXPECT_THAT(forest.loops[0].blocks, ElementsAre(1, 2, 3));
}

TEST(Loops, EndlessLoopHasNoExits) {
  const LoopForest forest = loops_of({{1}, {1}});
  ASSERT_EQ(forest.loops.size(), 1U);
  EXPECT_THAT(forest.loops[0].exits, IsEmpty());
}

TEST(Loops, TwoEntriesAreIrreducible) {
  const LoopForest forest = loops_of({{1, 2}, {2, 3}, {1}, {}});
  EXPECT_TRUE(forest.irreducible);
  EXPECT_THAT(forest.loops, IsEmpty());
  EXPECT_THAT(forest.irreducible_blocks, ElementsAre(false, true, true, false, false));
}

TEST(Loops, IrreducibleCycleInsideANaturalLoop) {
  // 1 is a natural header; 2 and 3 jump to each other and both are entered from 1.
  const LoopForest forest = loops_of({{1}, {2, 3}, {3, 4}, {2}, {1, 5}, {}});
  ASSERT_EQ(forest.loops.size(), 1U);
  EXPECT_EQ(forest.loops[0].header, 1U);
  EXPECT_TRUE(forest.irreducible);
  EXPECT_THAT(forest.irreducible_blocks,
              ElementsAre(false, false, true, true, false, false, false));
}

TEST(Loops, UnreachableLatchDoesNotCount) {
  const LoopForest forest = loops_of({{2}, {2}, {}});
  EXPECT_THAT(forest.loops, IsEmpty());
  EXPECT_FALSE(forest.irreducible);
}

// Every block on a cycle is in a loop of the forest or in an irreducible one, and only those.
RC_GTEST_PROP(LoopsProperty, CoverExactlyTheCycles, ()) {
  const auto blocks = *rc::gen::inRange<ptx::InstId>(1, 10);
  const auto succs = *rc::gen::container<std::vector<std::vector<ptx::InstId>>>(
      blocks, rc::gen::resize(3, rc::gen::container<std::vector<ptx::InstId>>(
                                     rc::gen::inRange<ptx::InstId>(0, blocks))));
  const Cfg cfg = build_cfg(graph(succs));
  const LoopForest forest = find_loops(cfg);
  for (const BlockId start : cfg.rpo) {
    std::vector<bool> seen(cfg.blocks.size(), false);
    std::vector<BlockId> work(cfg.blocks[start].succs);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = true;
      work.insert(work.end(), cfg.blocks[b].succs.begin(), cfg.blocks[b].succs.end());
    }
    const bool found = forest.innermost[start] != ~0U || forest.irreducible_blocks[start];
    RC_ASSERT(found == seen[start]);
  }
  for (const Loop& loop : forest.loops)
    for (const BlockId b : loop.blocks)
      RC_ASSERT(cfg.dominates(loop.header, b));
}

} // namespace
} // namespace ptxasw::analysis
