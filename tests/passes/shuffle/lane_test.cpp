// The conditions of the lane axis, one small kernel each: what is covered, by which delta, with
// which checks; and for everything that must be refused, the reason.
#include "passes/shared/found.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::by_tid;
using test::find;
using test::Found;
using test::kernel_text;
using ::testing::HasSubstr;

TEST(Lane, NeighboursInBothDirections) {
  const Found f = find(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ld.global.f32 %f3, [%rd4+-12];
    ld.global.f32 %f4, [%rd4+124];
    ld.global.f32 %f5, [%rd4+4096];
    ret;)");
  EXPECT_FALSE(f.covered(0));
  EXPECT_EQ(f.cover(1).delta, 1);
  EXPECT_EQ(f.cover(2).delta, -3);
  EXPECT_EQ(f.cover(3).delta, 31);
  EXPECT_THAT(f.kept(4), HasSubstr("no earlier load"));
  EXPECT_TRUE(f.cover(1).checks.empty());
  EXPECT_TRUE(f.cover(1).row_check);
  EXPECT_EQ(f.cover(1).proof, sym::ProofKind::normal_form);
}

TEST(Lane, SmallestDistanceWinsAndSourcesAreDirect) {
  const Found f = find(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+132];
    ld.global.f32 %f3, [%rd4+128];
    ld.global.f32 %f4, [%rd4+8];
    ld.global.f32 %f5, [%rd4+12];
    ret;)");
  EXPECT_FALSE(f.covered(1));
  EXPECT_EQ(f.cover(2).delta, -1); // from line 2, not from 32 away
  EXPECT_EQ(f.cover(3).delta, 2);
  EXPECT_EQ(f.cover(4).delta, 3); // from the first: the third load is itself covered
  EXPECT_EQ(f.cover(4).source, f.plan.loads[0].event);
}

TEST(Lane, AsFewDirectLoadsAsPossible) {
  // With one neighbour each way, the middle one of three must stay to supply both others.
  const Found f = find(R"(
    ld.global.f32 %f1, [%rd4+4];
    ld.global.f32 %f2, [%rd4+8];
    ld.global.f32 %f3, [%rd4];
    ld.global.f32 %f4, [%rd4+12];
    ld.global.f32 %f5, [%rd4+16];
    ld.global.f32 %f6, [%rd4+20];
    ret;)",
                       {.max_delta = 1});
  unsigned direct = 0;
  for (const passes::Load& load : f.plan.loads)
    direct += load.cover ? 0 : 1;
  EXPECT_EQ(direct, 3U);
  for (const passes::Load& load : f.plan.loads) {
    if (load.cover) {
      EXPECT_FALSE(f.plan.loads[load.cover->load].cover);
    }
  }
}

// Nothing but a repeated load pays, or nothing but another lane's.
TEST(Lane, LooksFurtherOnlyWhereALoadCouldPay) {
  constexpr const char* neighbours =
      "ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+4];\nret;";
  constexpr const char* again = "ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, "
                                "[%rd4+4096];\nld.global.f32 %f3, [%rd4];\nret;";
  const passes::LaneOptions same{
      .could_pay = [](const passes::Load&, int delta) { return delta == 0; }};
  const passes::LaneOptions far{
      .could_pay = [](const passes::Load&, int delta) { return delta != 0; }};
  EXPECT_FALSE(find(neighbours, same).covered(1));
  EXPECT_EQ(find(again, same).cover(2).delta, 0);
  EXPECT_EQ(find(neighbours, far).cover(1).delta, 1);
  EXPECT_FALSE(find(again, far).covered(2));
}

TEST(Lane, MaxDeltaAndOddBytes) {
  EXPECT_FALSE(
      find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+8];\nret;", {.max_delta = 1})
          .covered(1));
  EXPECT_FALSE(find("ld.global.u16 %rs1, [%rd4];\nld.global.u16 %rs2, [%rd4+2];\nret;").covered(1));
}

TEST(Lane, SameAddressIsAMove) {
  const Found f = find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4];\nret;");
  EXPECT_EQ(f.cover(1).delta, 0);
}

TEST(Lane, KnownBlockNeedsNoRowCheck) {
  const std::string body =
      std::string(by_tid) + "ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+4];\nret;";
  EXPECT_FALSE(Found(kernel_text(body), {.block = {64, 1, 1}}).cover(1).row_check);
  EXPECT_TRUE(Found(kernel_text(body), {.block = {48, 1, 1}}).cover(1).row_check);
}

// --- Index arithmetic ---------------------------------------------------------------------------

TEST(Lane, ConstantOutsideTheWideningNeedsAWrapCheck) {
  const Found f(kernel_text(R"(
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ld.global.f32 %f3, [%rd4+-8];
    ret;)"));
  ASSERT_EQ(f.cover(1).checks.size(), 1U);
  const passes::NoWrap& check = f.cover(1).checks[0];
  EXPECT_EQ(f.emulated.kernel.body.registers[check.index].name, "%r4");
  EXPECT_TRUE(check.fact.is_signed);
  EXPECT_EQ(check.fact.constants.lowest, -2); // one check serves both loads
  EXPECT_EQ(check.fact.constants.highest, 1);
  EXPECT_EQ(check.unit, ptx::none);
}

TEST(Lane, UnsignedIndexHasAnUnsignedCheck) { // trap h12
  const Found f(kernel_text(R"(
    add.s32 %r4, %r1, %r3;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ret;)"));
  ASSERT_EQ(f.cover(1).checks.size(), 1U);
  EXPECT_FALSE(f.cover(1).checks[0].fact.is_signed);
}

TEST(Lane, ConstantInsideTheWideningNeedsNone) {
  const Found f(kernel_text(R"(
    add.s32 %r4, %r1, %r3;
    add.s32 %r5, %r4, 1;
    mul.wide.s32 %rd3, %r4, 4;
    mul.wide.s32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd1, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    ret;)"));
  EXPECT_EQ(f.cover(1).delta, 1);
  EXPECT_TRUE(f.cover(1).checks.empty());
}

TEST(Lane, SignMismatchIsNotEqual) { // trap h13
  const Found f(kernel_text(R"(
    add.s32 %r4, %r1, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    mul.wide.u32 %rd4, %r4, 4;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd1, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6+4];
    ret;)"));
  EXPECT_FALSE(f.covered(1));
}

TEST(Lane, TransposedWalkStepsByAParameter) {
  const Found f(kernel_text(R"(
    mul.lo.s32 %r4, %r3, %r1;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    add.s64 %rd7, %rd6, %rd5;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    ret;)"));
  EXPECT_EQ(f.cover(1).delta, 1);
  EXPECT_EQ(f.cover(2).delta, 2);
  ASSERT_EQ(f.cover(1).checks.size(), 1U);
  const passes::NoWrap& check = f.cover(1).checks[0];
  EXPECT_EQ(f.emulated.kernel.body.registers[check.unit].name, "%r1");
  EXPECT_EQ(check.fact.units.highest, 2);
  EXPECT_EQ(f.plan.loads[0].lane_stride.kind, passes::Stride::Kind::parametric);
}

TEST(Lane, ClampedIndicesMatchExactly) {
  const Found f(kernel_text(R"(
    add.s32 %r4, %r3, %r2;
    add.s32 %r5, %r4, 1;
    min.s32 %r6, %r4, %r1;
    min.s32 %r7, %r5, %r1;
    mul.wide.s32 %rd3, %r6, 4;
    mul.wide.s32 %rd4, %r7, 4;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd1, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    ret;)"));
  EXPECT_EQ(f.cover(1).delta, 1);
}

TEST(Lane, AddressesFromLoadedIndices) { // trap h35
  const Found changing(kernel_text(std::string(by_tid) + R"(
    ld.global.u32 %r4, [%rd4];
    mul.wide.u32 %rd6, %r4, 4;
    add.s64 %rd7, %rd2, %rd6;
    ld.global.f32 %f1, [%rd7];
    ld.global.f32 %f2, [%rd7+4];
    ret;)"));
  EXPECT_FALSE(changing.covered(2));
  // A gather through constant memory: lane + 1 gathers what lane x finds one index further.
  const Found constant(kernel_text(std::string(by_tid) + R"(
    ld.global.nc.u32 %r4, [%rd4];
    ld.global.nc.u32 %r5, [%rd4+4];
    mul.wide.u32 %rd6, %r4, 4;
    mul.wide.u32 %rd7, %r5, 4;
    add.s64 %rd8, %rd2, %rd6;
    add.s64 %rd9, %rd2, %rd7;
    ld.global.nc.f32 %f1, [%rd8];
    ld.global.nc.f32 %f2, [%rd9];
    ret;)"));
  EXPECT_EQ(constant.cover(1).delta, 1);
  EXPECT_EQ(constant.cover(3).delta, 1);
}

// --- What stands between ------------------------------------------------------------------------

struct Between {
  const char* name;
  const char* code;
  const char* reason; // nullptr: covered all the same
};

class LaneBetween : public ::testing::TestWithParam<Between> {};

TEST_P(LaneBetween, Decides) {
  const Found f = find(fmt::format(
      "ld.global.f32 %f1, [%rd4];\n{}\nld.global.f32 %f2, [%rd4+4];\nret;", GetParam().code));
  if (GetParam().reason == nullptr) {
    EXPECT_TRUE(f.plan.loads.back().cover) << f.plan.loads.back().kept.text;
  } else {
    EXPECT_FALSE(f.plan.loads.back().cover);
    EXPECT_THAT(f.plan.loads.back().kept, HasSubstr(GetParam().reason));
  }
}

constexpr Between betweens[] = {
    {"nothing", "", nullptr},
    {"barrier", "bar.sync 0;", "bar at line"},
    {"warp_barrier", "bar.warp.sync -1;", "bar at line"},
    {"fence", "membar.gl;", "membar at line"},
    {"atomic", "atom.global.add.u32 %r5, [%rd2], 1;", "atom at line"},
    {"reduction", "red.global.add.u32 [%rd2], 1;", "red at line"},
    {"volatile_load", "ld.volatile.global.f32 %f9, [%rd2];", "ld at line"},
    {"acquire", "ld.acquire.gpu.global.f32 %f9, [%rd2];", "ld at line"},
    {"cp_async", "cp.async.ca.shared.global [%r1], [%rd2], 4;", "cp at line"},
    {"other_array", "st.global.f32 [%rd5], %f1;", "may write it; const __restrict__"},
    {"own_element", "st.global.f32 [%rd4], %f1;", "may write it"},
    {"read_element", "st.global.f32 [%rd4+4], %f1;", "may write it"},
    {"element_of_the_first_lane", "st.global.f32 [%rd4+-120], %f1;", "may write it"},
    {"element_of_the_last_lane", "st.global.f32 [%rd4+128], %f1;", "may write it"},
    {"beyond_the_last_lane", "st.global.f32 [%rd4+132], %f1;", nullptr},
    {"store_before_a_branch",
     "st.global.f32 [%rd5], %f1;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\nadd.f32 %f9, %f1, "
     "%f1;\nL:",
     "may write it"},
    {"store_behind_a_join",
     "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\nadd.f32 %f9, %f1, %f1;\nL:\nst.global.f32 [%rd5], "
     "%f1;",
     "may write it"},
    {"far_element", "st.global.f32 [%rd4+4096], %f1;", nullptr},
    {"element_of_a_lane", "st.global.f32 [%rd4+64], %f1;", "may write it"},
    {"uniform_store", "st.global.f32 [%rd1], %f1;", "may write it"},
    {"shared_store", "st.shared.f32 [%r1], %f1;", nullptr},
    {"generic_store", "st.f32 [%rd5], %f1;", "may write it"},
    {"store_on_a_path",
     "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.f32 [%rd5], %f1;\nL:", "may write it"},
    {"predicated_store", "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.global.f32 [%rd5], %f1;",
     "may write it"},
    {"branch", "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\nadd.f32 %f9, %f1, %f1;\nL:", nullptr},
    {"loop_with_store",
     "L:\nst.global.f32 [%rd5], %f1;\nadd.s32 %r1, %r1, -1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra "
     "L;",
     "may write it"},
};
INSTANTIATE_TEST_SUITE_P(, LaneBetween, ::testing::ValuesIn(betweens),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Covered on condition that the address turns out to be global; then stores to global memory may
// reach it, and those to shared memory may not.
TEST(Lane, GenericAddressesAreAskedForTheirSpace) {
  for (const auto& [store, kept] : {std::pair{"", ""}, std::pair{"st.shared.f32 [%r1], %f1;", ""},
                                    std::pair{"st.global.f32 [%rd5], %f1;", "may write it"},
                                    std::pair{"st.f32 [%rd5], %f1;", "may write it"}})
    for (const int delta : {0, 1}) {
      const Found f = find(
          fmt::format("ld.f32 %f1, [%rd4];\n{}\nld.f32 %f2, [%rd4+{}];\nret;", store, 4 * delta));
      EXPECT_THAT(f.kept(1), HasSubstr(kept)) << store;
      if (*kept != 0) continue;
      EXPECT_EQ(f.cover(1).delta, delta) << store;
      EXPECT_TRUE(f.cover(1).space_check) << store;
    }
}

TEST(Lane, GenericAndGlobalLoadsAreNotMixed) {
  EXPECT_FALSE(find("ld.global.f32 %f1, [%rd4];\nld.f32 %f2, [%rd4+4];\nret;").covered(1));
  EXPECT_FALSE(find("ld.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+4];\nret;").covered(1));
}

TEST(Lane, StoresDoNotTouchReadOnlyMemory) {
  const Found f = find(R"(
    ld.global.nc.f32 %f1, [%rd4];
    st.global.f32 [%rd5], %f1;
    ld.global.nc.f32 %f2, [%rd4+4];
    ret;)");
  EXPECT_EQ(f.cover(1).delta, 1);
}

// --- Whether the source ran in the other lane ---------------------------------------------------

TEST(Lane, ReadOnlyLoadsSupplyReadOnlyLoads) {
  const std::string nc = "ld.global.nc.f32 %f1, [%rd4];\n",
                    plain = "ld.global.f32 %f2, [%rd4+4];\n";
  EXPECT_THAT(find(nc + plain + "ret;").kept(1), HasSubstr("is .nc, and this one is not"));
  EXPECT_TRUE(find(plain + nc + "ret;").covered(1));
  EXPECT_TRUE(find(nc + "ld.global.nc.f32 %f2, [%rd4+4];\nret;").covered(1));
}

// Another lane may load what this one has stored before it is stored.
TEST(Lane, OwnStoresAheadOfTheSource) {
  const std::string store = "st.global.f32 [%rd4], %f9;\n",
                    loads = "ld.global.f32 %f1, [%rd4+4];\nld.global.f32 %f2, [%rd4];\nret;";
  EXPECT_THAT(find(store + loads).kept(1), HasSubstr("the lane itself has stored it"));
  EXPECT_THAT(find("st.global.v2.f32 [%rd4+-4], {%f9, %f9};\n" + loads).kept(1),
              HasSubstr("the lane itself has stored it"));
  EXPECT_TRUE(find("st.global.v2.f32 [%rd4+4], {%f9, %f9};\n" + loads).covered(1));
  EXPECT_TRUE(find(store + "bar.sync 0;\n" + loads).covered(1));
  EXPECT_TRUE(find("st.global.f32 [%rd5], %f9;\n" + loads).covered(1));
  EXPECT_TRUE(
      find(store + "ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4];\nret;").covered(1));
}

// The bytes outside of the mask may be left out.
TEST(Lane, LoadsOfSomeBytesTakeNoPart) {
  const std::string mask = ".pragma \"used_bytes_mask 0x3\";\n",
                    first = "ld.global.u32 %r8, [%rd4];\n",
                    second = "ld.global.u32 %r9, [%rd4+4];\n";
  EXPECT_TRUE(find(first + second + "ret;").covered(1));
  EXPECT_FALSE(find(mask + first + second + "ret;").covered(1));
  EXPECT_THAT(find(first + mask + second + "ret;").kept(1), HasSubstr("used_bytes_mask"));
}

TEST(Lane, SourceMustDominate) { // trap h05b
  const Found f = find(R"(
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra L;
    ld.global.f32 %f1, [%rd4];
L:
    ld.global.f32 %f2, [%rd4+4];
    ret;)");
  EXPECT_THAT(f.kept(1), HasSubstr("not precede it on every path"));
}

TEST(Lane, PredicatedSource) { // trap h18b
  const Found f = find(R"(
    setp.lt.s32 %p1, %r3, 5;
    @%p1 ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ret;)");
  EXPECT_THAT(f.kept(1), HasSubstr("predicated"));
}

TEST(Lane, PredicatedSourceUnderItsOwnCondition) {
  const Found f = find(R"(
    setp.lt.s32 %p1, %r3, 5;
    @%p1 ld.global.f32 %f1, [%rd4];
    @!%p1 bra DONE;
    ld.global.f32 %f2, [%rd4+4];
DONE:
    ret;)");
  EXPECT_EQ(f.cover(1).delta, 1);
}

TEST(Lane, UniformPredicateOnBoth) {
  const Found uniform = find(R"(
    setp.lt.s32 %p1, %r1, 5;
    @%p1 ld.global.f32 %f1, [%rd4];
    @%p1 ld.global.f32 %f2, [%rd4+4];
    ret;)");
  EXPECT_EQ(uniform.cover(1).delta, 1);
  const Found varying = find(R"(
    setp.lt.s32 %p1, %r3, 5;
    @%p1 ld.global.f32 %f1, [%rd4];
    @%p1 ld.global.f32 %f2, [%rd4+4];
    ret;)");
  EXPECT_FALSE(varying.covered(1));
}

// --- Loops --------------------------------------------------------------------------------------

constexpr const char* loop = R"(
    mov.u32 %r4, 0;
LOOP:
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    add.s64 %rd4, %rd4, 4096;
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p1, %r4, {};
    @%p1 bra LOOP;
    ret;)";

TEST(Lane, LoopsNeedUniformTrips) { // trap h28
  EXPECT_EQ(find(fmt::format(loop, "%r1")).cover(1).delta, 1);
  EXPECT_THAT(find(fmt::format(loop, "%r3")).kept(1), HasSubstr("trip count may differ"));
}

TEST(Lane, NotFromAnotherLoopNest) {
  const Found f = find(R"(
    ld.global.f32 %f1, [%rd4];
    mov.u32 %r4, 0;
LOOP:
    ld.global.f32 %f2, [%rd4+4];
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p1, %r4, %r1;
    @%p1 bra LOOP;
    ld.global.f32 %f3, [%rd4+4];
    ret;)");
  EXPECT_THAT(f.kept(1), HasSubstr("another loop nest"));
  EXPECT_EQ(f.cover(2).delta, 1); // around the loop is fine
}

// --- Kinds of access ----------------------------------------------------------------------------

TEST(Lane, OrderedAndFreshLoadsStay) { // traps h07, h50
  EXPECT_THAT(
      find("ld.global.f32 %f1, [%rd4];\nld.volatile.global.f32 %f2, [%rd4+4];\nret;").kept(1),
      HasSubstr("volatile or ordered"));
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nld.global.cv.f32 %f2, [%rd4+4];\nret;").kept(1),
              HasSubstr("cache operator"));
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nld.global.lu.f32 %f2, [%rd4+4];\nret;").kept(1),
              HasSubstr("cache operator"));
}

TEST(Lane, WidthsAndTypesMustAgree) { // traps h14b, h14c
  EXPECT_THAT(find("ld.global.u32 %r4, [%rd4];\nld.global.u16 %rs1, [%rd4+4];\nret;").kept(1),
              HasSubstr("another width"));
  EXPECT_THAT(find("ld.global.s16 %r4, [%rd4];\nld.global.u16 %r5, [%rd4+4];\nret;").kept(1),
              HasSubstr("another width or type"));
  EXPECT_TRUE(find("ld.global.u32 %r4, [%rd4];\nld.global.f32 %f2, [%rd4+4];\nret;").covered(1));
}

TEST(Lane, VectorsGoTogether) { // trap h17
  const Found f(kernel_text(R"(
    mul.wide.u32 %rd3, %r3, 16;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
    ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd4+16];
    ld.global.v2.f32 {%f9, %f10}, [%rd4+16];
    ret;)"));
  EXPECT_EQ(f.cover(1).delta, 1);
  EXPECT_FALSE(f.covered(2));
}

TEST(Lane, SharedMemoryOnRequest) {
  const std::string body = R"(
    shl.b32 %r4, %r3, 2;
    ld.shared.f32 %f1, [%r4];
    ld.shared.f32 %f2, [%r4+4];
    ret;)";
  EXPECT_FALSE(Found(kernel_text(body)).covered(1));
  EXPECT_EQ(Found(kernel_text(body), {.shared = true}).cover(1).delta, 1);
}

TEST(Lane, OverwrittenSourceIsCopied) {
  EXPECT_FALSE(
      find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd4+4];\nret;").cover(1).needs_copy);
  EXPECT_TRUE(find("ld.global.f32 %f1, [%rd4];\nadd.f32 %f1, %f1, %f1;\nld.global.f32 %f2, "
                   "[%rd4+4];\nret;")
                  .cover(1)
                  .needs_copy);
}

TEST(Lane, WhatVariesByLaneIsNotKnownElsewhere) { // traps h20, h23
  for (const char* value :
       {"mov.u32 %r4, %laneid;\nshl.b32 %r4, %r4, 2;", "shfl.sync.down.b32 %r4, %r3, 1, 31, -1;",
        "mov.u32 %r4, %clock;", "activemask.b32 %r4;", "mov.u32 %r4, %lanemask_eq;"}) {
    const Found f(kernel_text(fmt::format(R"(
    {}
    mul.wide.u32 %rd3, %r4, 1;
    mul.wide.u32 %rd4, %r3, 4;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd5, %rd5, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd5+4];
    ld.global.f32 %f3, [%rd5+8];
    ret;)",
                                          value)));
    EXPECT_FALSE(f.covered(1)) << value;
    EXPECT_FALSE(f.covered(2)) << value;
  }
}

TEST(Lane, ParanoidDropsWhatZ3DoesNotRepeat) {
  test::Emulated emulated(test::kernel_text(std::string(test::by_tid) + R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ret;)"));
  sym::Solver hasty(*emulated.kernel.context,
                    {.paranoid = true, .query_budget = std::chrono::milliseconds(0)});
  const auto plan = passes::find_lane_reuse(emulated.kernel, hasty, {.paranoid = true});
  EXPECT_FALSE(plan.loads.at(1).cover);
  EXPECT_THAT(plan.loads.at(1).kept, HasSubstr("timed out"));
}

TEST(Lane, ParanoidAgreesWithTheNormalForm) {
  const Found f = find(R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ld.global.f32 %f3, [%rd4+-4];
    ret;)",
                       {.paranoid = true});
  EXPECT_TRUE(f.covered(1));
  EXPECT_TRUE(f.covered(2));
}

// A shuffle asks activemask, which .version 6.1 does not have; a move asks nothing.
TEST(Lane, OldModulesHaveNoShuffles) {
  std::string text = kernel_text(std::string(by_tid) + R"(
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    ld.global.f32 %f3, [%rd4];
    ret;)");
  const auto of_version = [&](const std::string& version) {
    const std::size_t at = text.find(".version ") + 9;
    return Found(text.substr(0, at) + version + text.substr(text.find('\n', at)));
  };
  const Found old = of_version("6.1"), newer = of_version("6.2");
  EXPECT_FALSE(old.covered(1));
  EXPECT_THAT(old.kept(1), HasSubstr(".version 6.1"));
  EXPECT_TRUE(old.covered(2));
  EXPECT_TRUE(newer.covered(1));
}

} // namespace
} // namespace ptxasw
