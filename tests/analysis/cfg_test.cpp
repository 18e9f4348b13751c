// Blocks and edges, and both dominator trees against their definition.
#include "analysis/bodies.hpp"
#include "analysis/cfg.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace ptxasw::analysis {
namespace {

using ptx::Op;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Cfg, EmptyBodyIsTheExitAlone) {
  const Cfg cfg = build_cfg(ptx::Body{});
  EXPECT_EQ(cfg.blocks.size(), 1U);
  EXPECT_EQ(cfg.entry(), cfg.exit());
  EXPECT_EQ(cfg.ipdom[0], no_block);
}

TEST(Cfg, StraightLineIsOneBlock) {
  const ptx::Body body = BodyBuilder().op(Op::mov).op(Op::add).op(Op::ret).body();
  const Cfg cfg = build_cfg(body);
  ASSERT_EQ(cfg.blocks.size(), 2U);
  EXPECT_EQ(cfg.blocks[0].end, 3U);
  EXPECT_THAT(cfg.blocks[0].succs, ElementsAre(1));
}

TEST(Cfg, ConditionalBranchHasTakenThenFallThrough) {
  const ptx::Body body = BodyBuilder().branch(2, 0).op(Op::mov).op(Op::ret).body();
  const Cfg cfg = build_cfg(body);
  EXPECT_THAT(cfg.blocks[0].succs, ElementsAre(2, 1));
  EXPECT_THAT(cfg.blocks[2].preds, ElementsAre(0, 1));
  EXPECT_EQ(cfg.idom[2], 0U);
  EXPECT_EQ(cfg.ipdom[0], 2U);
}

TEST(Cfg, PredicatedReturnFallsThrough) {
  const ptx::Body body =
      BodyBuilder().op(Op::ret, {}, {}, 0).op(Op::exit, {}, {}, 0).op(Op::trap).body();
  const Cfg cfg = build_cfg(body);
  ASSERT_EQ(cfg.blocks.size(), 4U);
  EXPECT_THAT(cfg.blocks[0].succs, ElementsAre(3, 1));
  EXPECT_THAT(cfg.blocks[1].succs, ElementsAre(3, 2));
  EXPECT_THAT(cfg.blocks[2].succs, ElementsAre(3));
  EXPECT_EQ(cfg.ipdom[0], cfg.exit());
}

TEST(Cfg, TableKeepsItsOrderAndRepetitions) {
  const Cfg cfg = build_cfg(graph({{2, 1, 2}, {}, {}}));
  EXPECT_THAT(cfg.blocks[0].succs, ElementsAre(2, 1, 2));
  EXPECT_THAT(cfg.blocks[2].preds, ElementsAre(0, 0));
}

TEST(Cfg, GuardedTableFallsThroughLast) {
  ptx::Body body = BodyBuilder().table({2}).op(Op::mov).op(Op::ret).body();
  body.insts[0].guard = 0;
  EXPECT_THAT(build_cfg(body).blocks[0].succs, ElementsAre(2, 1));
}

TEST(Cfg, LabelAtTheEndIsTheExit) {
  const ptx::Body body = BodyBuilder().branch(2, 0).op(Op::mov).body();
  const Cfg cfg = build_cfg(body);
  EXPECT_THAT(cfg.blocks[0].succs, ElementsAre(2, 1));
  EXPECT_THAT(cfg.blocks[1].succs, ElementsAre(2));
  EXPECT_EQ(cfg.exit(), 2U);
}

TEST(Cfg, EndlessLoopHasNoPostDominator) {
  const Cfg cfg = build_cfg(graph({{1}, {1}}));
  EXPECT_FALSE(cfg.reachable(cfg.exit()));
  EXPECT_EQ(cfg.ipdom[0], no_block);
  EXPECT_TRUE(cfg.dominates(0, 1));
  EXPECT_FALSE(cfg.post_dominates(1, 0));
  EXPECT_TRUE(cfg.post_dominates(1, 1));
}

TEST(Cfg, UnreachableBlocksAreDominatedByThemselvesOnly) {
  const Cfg cfg = build_cfg(graph({{2}, {2}, {}}));
  EXPECT_FALSE(cfg.reachable(1));
  EXPECT_EQ(cfg.idom[1], no_block);
  EXPECT_TRUE(cfg.dominates(1, 1));
  EXPECT_FALSE(cfg.dominates(0, 1));
  EXPECT_FALSE(cfg.dominates(1, 2));
  EXPECT_EQ(cfg.idom[2], 0U);
}

TEST(Cfg, InstructionsOfOneBlockDominateInOrder) {
  const ptx::Body body = BodyBuilder().op(Op::mov).branch(3, 0).op(Op::mov).op(Op::ret).body();
  const Cfg cfg = build_cfg(body);
  EXPECT_TRUE(cfg.dominates_inst(0, 1));
  EXPECT_FALSE(cfg.dominates_inst(1, 0));
  EXPECT_FALSE(cfg.dominates_inst(1, 1));
  EXPECT_TRUE(cfg.dominates_inst(1, 3));
  EXPECT_FALSE(cfg.dominates_inst(2, 3));
}

// Is `to` reached from `from` without passing `without`? (The definition of dominance, negated.)
bool reaches(const Cfg& cfg, BlockId from, BlockId to, BlockId without) {
  std::vector<bool> seen(cfg.blocks.size(), false);
  std::vector<BlockId> work;
  if (from != without) work.push_back(from);
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    if (seen[b]) continue;
    seen[b] = true;
    for (const BlockId s : cfg.blocks[b].succs)
      if (s != without) work.push_back(s);
  }
  return seen[to];
}

rc::Gen<std::vector<std::vector<ptx::InstId>>> random_graph() {
  return rc::gen::mapcat(rc::gen::inRange<ptx::InstId>(1, 12), [](ptx::InstId blocks) {
    const auto targets = rc::gen::resize(
        4, rc::gen::container<std::vector<ptx::InstId>>(rc::gen::inRange<ptx::InstId>(0, blocks)));
    return rc::gen::container<std::vector<std::vector<ptx::InstId>>>(blocks, targets);
  });
}

RC_GTEST_PROP(CfgProperty, DominatorsMatchTheirDefinition, ()) {
  const ptx::Body body = graph(*random_graph());
  const Cfg cfg = build_cfg(body);
  for (BlockId b = 0; b < cfg.blocks.size(); ++b) {
    const bool reachable = reaches(cfg, cfg.entry(), b, no_block);
    RC_ASSERT(cfg.reachable(b) == reachable);
    for (BlockId a = 0; a < cfg.blocks.size(); ++a) {
      const bool expected = a == b || (reachable && !reaches(cfg, cfg.entry(), b, a));
      RC_ASSERT(cfg.dominates(a, b) == expected);
    }
  }
}

RC_GTEST_PROP(CfgProperty, PostDominatorsMatchTheirDefinition, ()) {
  const ptx::Body body = graph(*random_graph());
  const Cfg cfg = build_cfg(body);
  for (BlockId b = 0; b < cfg.blocks.size(); ++b)
    for (BlockId a = 0; a < cfg.blocks.size(); ++a) {
      const bool leaves = reaches(cfg, b, cfg.exit(), no_block);
      const bool expected = a == b || (leaves && !reaches(cfg, b, cfg.exit(), a));
      RC_ASSERT(cfg.post_dominates(a, b) == expected);
    }
}

// The immediate one is the strict dominator that all other strict dominators dominate.
RC_GTEST_PROP(CfgProperty, ImmediateDominatorsAreTheClosest, ()) {
  const ptx::Body body = graph(*random_graph());
  const Cfg cfg = build_cfg(body);
  for (BlockId b = 0; b < cfg.blocks.size(); ++b) {
    for (BlockId a = 0; a < cfg.blocks.size(); ++a) {
      if (a != b && cfg.dominates(a, b)) RC_ASSERT(cfg.dominates(a, cfg.idom[b]));
      if (a != b && cfg.post_dominates(a, b)) RC_ASSERT(cfg.post_dominates(a, cfg.ipdom[b]));
    }
  }
}

TEST(Cfg, ReversePostOrderPutsDominatorsFirst) {
  const Cfg cfg = build_cfg(graph({{1, 2}, {3}, {3}, {1, 4}, {}}));
  EXPECT_EQ(cfg.rpo.front(), 0U);
  EXPECT_EQ(cfg.rpo.size(), 6U);
  for (const BlockId b : std::span(cfg.rpo).subspan(1))
    EXPECT_LT(cfg.rpo_index[cfg.idom[b]], cfg.rpo_index[b]);
}

} // namespace
} // namespace ptxasw::analysis
