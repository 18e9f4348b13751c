// Where the lanes of a warp are counted for shuffles in loops; and that shuffles whose lanes are
// counted ahead of a loop do not care which trips the hardware lets lanes meet in.
#include "passes/shared/converged.hpp"

#include "passes/shuffle/shuffled.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptxasw {
namespace {

using test::kernel;
using test::Shuffled;

enum class Mask { inside, ahead_of_inner, ahead }; // where it is read

// A loop that walks down the array with two loads of which one is shuffled, and what stands around
// them. %p4: one of the lanes from 40 on; %p5: an odd or an even lane, in the first two trips.
struct Case {
  const char* name;
  Mask mask;
  const char* before = "mov.u32 %r22, 1;";
  const char* above = "";
  const char* below = "";
  const char* behind = "";
};

std::string text_of(const Case& c) {
  return kernel(fmt::format(R"(
    mov.u64 %rd10, %rd4;
    mov.u32 %r20, 0;
    mov.u32 %r21, 0;
    and.b32 %r23, %r3, 1;
    setp.gt.u32 %p4, %r3, 39;
    {}
LOOP:
    setp.eq.u32 %p5, %r23, %r21;
    {}
    ld.global.u32 %r10, [%rd10];
    ld.global.u32 %r11, [%rd10+4];
    add.u32 %r20, %r20, %r10;
    mad.lo.u32 %r20, %r11, 3, %r20;
    {}
NEXT:
    add.s64 %rd10, %rd10, 64;
    add.u32 %r21, %r21, 1;
    setp.lt.u32 %p1, %r21, %r1;
    @%p1 bra LOOP;
    {}
DONE:
    st.global.u32 [%rd50], %r20;)",
                            c.before, c.above, c.below, c.behind));
}

constexpr const char* outer_loop = "mov.u32 %r24, 0; OUTER: mov.u32 %r21, 0; mov.u64 %rd10, %rd4;";
const Case cases[] = {
    {.name = "Plain", .mask = Mask::ahead},
    {.name = "LoopThatMayNotRun",
     .mask = Mask::ahead,
     .before = "setp.eq.u32 %p2, %r1, 0; @%p2 bra DONE;"},
    {.name = "LanesLeaveBefore", .mask = Mask::ahead, .before = "@%p4 bra DONE; mov.u32 %r22, 1;"},
    // There is no block between the branch and the loop that could hold the mask.
    {.name = "LanesLeaveRightBefore", .mask = Mask::inside, .before = "@%p4 bra DONE;"},
    {.name = "LanesMeetBefore",
     .mask = Mask::ahead,
     .before = "@%p4 bra START; add.u32 %r20, %r20, 7; START: mov.u32 %r22, 1;"},
    {.name = "JumpIntoTheLoop",
     .mask = Mask::ahead,
     .before = "mov.u32 %r22, 1; bra LOOP; NOWHERE: add.u32 %r20, %r20, 7;"},
    {.name = "UniformArm",
     .mask = Mask::ahead,
     .above = "setp.eq.u32 %p2, %r21, 2; @%p2 bra NEXT;"},
    {.name = "ArmByLane", .mask = Mask::inside, .above = "@%p5 bra NEXT;"},
    {.name = "LanesPartBelow",
     .mask = Mask::inside,
     .below = "@%p5 bra NEXT; add.u32 %r20, %r20, 7;"},
    {.name = "LanesPartBehind",
     .mask = Mask::ahead,
     .behind = "@%p4 bra DONE; add.u32 %r20, %r20, 7;"},
    {.name = "OuterLoop",
     .mask = Mask::ahead,
     .before = outer_loop,
     .behind = "add.u32 %r24, %r24, 1; setp.lt.u32 %p3, %r24, 3; @%p3 bra OUTER;"},
    {.name = "LanesPartInOuterLoop",
     .mask = Mask::ahead_of_inner,
     .before = outer_loop,
     .behind = "@%p4 bra JOIN; add.u32 %r20, %r20, 7; JOIN: add.u32 %r24, %r24, 1;"
               "setp.lt.u32 %p3, %r24, 3; @%p3 bra OUTER;"},
};

class InStep : public ::testing::TestWithParam<Case> {};

TEST_P(InStep, MaskIsReadAheadOfTheLoop) {
  const Shuffled shuffled(text_of(GetParam()));
  EXPECT_EQ(shuffled.covered, 1U);
  const std::size_t mask = shuffled.text.find("activemask");
  ASSERT_NE(mask, std::string::npos);
  EXPECT_EQ(mask < shuffled.text.find("LOOP:"), GetParam().mask != Mask::inside) << shuffled.text;
  EXPECT_EQ(mask > shuffled.text.find("OUTER:"), GetParam().mask == Mask::ahead_of_inner)
      << shuffled.text;
  EXPECT_EQ(shuffled.text.find("activemask", mask + 1), std::string::npos) << shuffled.text;
}

TEST_P(InStep, SameUnderEverySchedule) {
  const Shuffled shuffled(text_of(GetParam()));
  for (const simt::Dim3 block : {simt::Dim3{64}, simt::Dim3{40}, simt::Dim3{16, 4}})
    EXPECT_EQ(shuffled.difference(block, 5, 0), "") << shuffled.text;
}

std::vector<simt::Schedule> across_iterations() {
  std::vector<simt::Schedule> all;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    all.push_back({simt::Schedule::Kind::independent, seed, 1, true});
  return all;
}

TEST_P(InStep, LanesOfDifferentTripsDoNotMatter) {
  if (GetParam().mask != Mask::ahead) return;
  const Shuffled shuffled(text_of(GetParam()));
  EXPECT_EQ(shuffled.difference({64}, 5, 0, "in", "", across_iterations()), "") << shuffled.text;
}

INSTANTIATE_TEST_SUITE_P(, InStep, ::testing::ValuesIn(cases),
                         [](const auto& instance) { return std::string(instance.param.name); });
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

TEST(InStepCalls, LanesMayNotReturnFromACallInTheLoop) {
  std::string text = text_of({.name = "Call",
                              .mask = Mask::inside,
                              .above = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r3;"
                                       "st.param.b32 [y], %r21; call leave, (x, y); }"});
  text.insert(text.find(".visible"), R"(.func leave(.param .b32 x, .param .b32 y)
{
.reg .pred %p<2>;
.reg .b32 %r<4>;
ld.param.u32 %r1, [x];
ld.param.u32 %r2, [y];
and.b32 %r1, %r1, 3;
setp.eq.u32 %p1, %r1, %r2;
@%p1 exit;
ret;
}
)");
  const Shuffled shuffled(text, Emit::normal, 1);
  EXPECT_EQ(shuffled.covered, 1U);
  EXPECT_GT(shuffled.text.find("activemask"), shuffled.text.find("LOOP:")) << shuffled.text;
  EXPECT_EQ(shuffled.difference({64}, 5, 0), "") << shuffled.text;
}

} // namespace
} // namespace ptxasw
