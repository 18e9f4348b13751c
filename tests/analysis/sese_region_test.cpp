// What has to be taken along for one way in and one way out.
#include "analysis/bodies.hpp"
#include "analysis/sese_region.hpp"

#include <gtest/gtest.h>

namespace ptxasw::analysis {
namespace {

using ptx::Op;

using Ends = std::pair<ptx::InstId, ptx::InstId>;
std::optional<Ends> around(const ptx::Body& body, ptx::InstId first, ptx::InstId end) {
  const auto found = closed_around(build_cfg(body), {first, end});
  return found ? std::optional(Ends{found->first, found->end}) : std::nullopt;
}

TEST(SeseRegion, ABranchAndItsSides) {
  const ptx::Body one_way =
      BodyBuilder().op(Op::mov).branch(3, 0).op(Op::mov).op(Op::mov).op(Op::ret).body();
  EXPECT_EQ(around(one_way, 1, 2), (Ends{1, 3}));
  const ptx::Body two_ways =
      BodyBuilder().branch(3, 0).op(Op::mov).branch(4).op(Op::mov).op(Op::mov).op(Op::ret).body();
  EXPECT_EQ(around(two_ways, 0, 1), (Ends{0, 4}));
}

TEST(SeseRegion, ALoopAsAWhole) {
  const ptx::Body body =
      BodyBuilder().op(Op::mov).op(Op::add).branch(1, 0).op(Op::mov).op(Op::ret).body();
  EXPECT_EQ(around(body, 2, 3), (Ends{1, 3}));
}

// if (a || b) ...: from the second branch the first comes along, but not what stands before it.
TEST(SeseRegion, TheBranchThatLeadsIntoTheMiddle) {
  const ptx::Body body = BodyBuilder()
                             .op(Op::mov)
                             .branch(4, 0)
                             .op(Op::add)
                             .branch(5, 1)
                             .op(Op::mov)
                             .op(Op::mov)
                             .op(Op::ret)
                             .body();
  EXPECT_EQ(around(body, 3, 4), (Ends{1, 5}));
  EXPECT_EQ(around(body, 1, 2), (Ends{1, 5}));
}

TEST(SeseRegion, WhatComesBackFromBehind) {
  // 0: @p bra 4; 1: mov; 2: mov; 3: bra 5; 4: bra 2; 5: ret
  const ptx::Body body =
      BodyBuilder().branch(4, 0).op(Op::mov).op(Op::mov).branch(5).branch(2).op(Op::ret).body();
  EXPECT_EQ(around(body, 0, 1), (Ends{0, 5}));
}

// The start of a stretch may be jumped to from anywhere; once it lies inside it may not.
TEST(SeseRegion, AWayInToWhatWasTheStart) {
  // 0: @p bra 3; 1: mov; 2: mov; 3: @q bra 5; 4: bra 1; 5: ret
  const ptx::Body body =
      BodyBuilder().branch(3, 0).op(Op::mov).op(Op::mov).branch(5, 1).branch(1).op(Op::ret).body();
  EXPECT_EQ(around(body, 3, 4), (Ends{0, 5}));
}

TEST(SeseRegion, NoneWhereAThreadEnds) {
  const ptx::Body inside =
      BodyBuilder().branch(2, 0).op(Op::ret, {}, {}, 1).op(Op::mov).op(Op::ret).body();
  EXPECT_EQ(around(inside, 0, 1), std::nullopt);
  const ptx::Body behind = BodyBuilder().branch(2, 0).op(Op::ret).op(Op::mov).op(Op::ret).body();
  EXPECT_EQ(around(behind, 0, 1), std::nullopt);
}

} // namespace
} // namespace ptxasw::analysis
