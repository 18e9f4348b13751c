// Liveness across branches, loops and guards; definitions.
#include "analysis/bodies.hpp"
#include "analysis/liveness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw::analysis {
namespace {

using ptx::Op;
using ptx::Type;
using testing::ElementsAre;

TEST(Liveness, ValueLivesUntilItsLastUse) {
  // 0: r0 = ..; 1: @p2 bra 3; 2: r1 = r0; 3: ret
  const ptx::Body body = BodyBuilder({Type::b32, Type::b32, Type::pred})
                             .op(Op::mov, {0})
                             .branch(3, 2)
                             .op(Op::mov, {1}, {0})
                             .op(Op::ret)
                             .body();
  const Cfg cfg = build_cfg(body);
  const Liveness live(body, cfg);
  EXPECT_TRUE(live.live_in(0, 2));
  EXPECT_FALSE(live.live_in(0, 0));
  EXPECT_TRUE(live.live_out(0, 0));
  EXPECT_TRUE(live.live_in(1, 0));
  EXPECT_FALSE(live.live_out(1, 1));
}

TEST(Liveness, LoopCarriesItsCounter) {
  const ptx::Body body = BodyBuilder({Type::b32, Type::pred})
                             .op(Op::mov, {0})
                             .op(Op::add, {0}, {0})
                             .branch(1, 1)
                             .op(Op::ret)
                             .body();
  const Cfg cfg = build_cfg(body);
  const Liveness live(body, cfg);
  EXPECT_TRUE(live.live_in(1, 0));
  EXPECT_TRUE(live.live_out(1, 0));
  EXPECT_FALSE(live.live_in(2, 0));
}

TEST(Liveness, GuardedDefinitionKeepsTheOldValueAlive) {
  const ptx::Body body = BodyBuilder({Type::b32, Type::pred})
                             .op(Op::mov, {0}, {}, 1)
                             .op(Op::st, {}, {0})
                             .op(Op::ret)
                             .body();
  const Cfg cfg = build_cfg(body);
  EXPECT_TRUE(Liveness(body, cfg).live_in(0, 0));
}

TEST(Liveness, AddressBasesAreUses) {
  const ptx::Body body = BodyBuilder({Type::f32, Type::b64}).load(0, 1).op(Op::ret).body();
  const Cfg cfg = build_cfg(body);
  EXPECT_TRUE(Liveness(body, cfg).live_in(0, 1));
}

TEST(Liveness, RegistersBeyondOneWord) {
  const ptx::Body body =
      BodyBuilder(std::vector<Type>(130, Type::b32)).op(Op::mov, {1}, {129}).op(Op::ret).body();
  const Cfg cfg = build_cfg(body);
  const Liveness live(body, cfg);
  EXPECT_TRUE(live.live_in(0, 129));
  EXPECT_FALSE(live.live_in(0, 65));
}

TEST(Definitions, InProgramOrderOncePerInstruction) {
  const ptx::Body body = BodyBuilder({Type::b32, Type::b32})
                             .op(Op::ld, {0, 0})
                             .op(Op::mov, {1})
                             .op(Op::mov, {0}, {1})
                             .body();
  const auto defs = definitions(body);
  EXPECT_THAT(defs[0], ElementsAre(0, 2));
  EXPECT_THAT(defs[1], ElementsAre(1));
}

} // namespace
} // namespace ptxasw::analysis
