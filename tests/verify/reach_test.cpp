// Places that made-up launches do not reach, and what the answer is while they are not reached.
#include "verify/reach.hpp"

#include "ptx/parse.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace ptxasw::verify {
namespace {

using simt::VerifyOptions;
using simt::VerifyResult;
using testing::HasSubstr;

std::shared_ptr<const ptx::Module> module_of(const std::string& text) {
  return std::make_shared<const ptx::Module>(ptx::parse(text, "k.ptx"));
}

// out[i] = in[i] + in[i + 1], i the thread's number in the grid, behind a guard that sets %p1 for
// threads that leave. %r1 = n, %r2 = i, %r5 = m, %rd3 = &in[i], %rd5 = &out[i].
std::string guarded(std::string_view guard,
                    std::string_view second = "ld.global.f32 %f2, [%rd3+4];") {
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
{{
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n]; ld.param.u32 %r5, [m];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
mad.lo.s32 %r2, %r3, %r4, %r2;
mul.wide.s32 %rd4, %r2, 4;
add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;
{}
@%p1 ret;
ld.global.f32 %f1, [%rd3];
{}
add.f32 %f3, %f1, %f2;
st.global.f32 [%rd5], %f3;
ret;
}}
)",
                     guard, second);
}

// in[i + 1] from lane + 1, with the last lane's own load.
constexpr std::string_view shuffled = R"(
activemask.b32 %r11; mov.b32 %r12, %f1;
shfl.sync.down.b32 %r13, %r12, 1, 31, %r11;
mov.b32 %f2, %r13;
mov.u32 %r14, %laneid;
setp.ne.s32 %p2, %r11, -1;
@!%p2 setp.eq.u32 %p2, %r14, 31;
@%p2 ld.global.f32 %f2, [%rd3+4];)";
constexpr std::string_view shuffled_wrongly = R"(
activemask.b32 %r11; mov.b32 %r12, %f1;
shfl.sync.down.b32 %r13, %r12, 2, 31, %r11;
mov.b32 %f2, %r13;
mov.u32 %r14, %laneid;
setp.ne.s32 %p2, %r11, -1;
@!%p2 setp.ge.u32 %p2, %r14, 30;
@%p2 ld.global.f32 %f2, [%rd3+4];)";

VerifyResult compare(const std::string& first, const std::string& second, bool solve = true,
                     VerifyOptions options = {}) {
  if (solve) options.find_paths = way_finder();
  options.alias = false;
  return simt::verify(module_of(first), module_of(second), "k", options);
}

struct Guard {
  const char* name;
  const char* text;
};
void PrintTo(const Guard& guard, std::ostream* out) {
  *out << guard.name;
}

const Guard guards[] = {
    {"ASize", "setp.lt.s32 %p1, %r1, 100000;"},
    {"ARange", "setp.lt.s32 %p1, %r1, 5000; setp.gt.s32 %p2, %r1, 5009; or.pred %p1, %p1, %p2;"},
    {"AProduct", "mul.lo.s32 %r6, %r1, %r5; setp.ge.s32 %p1, %r2, %r6; setp.lt.s32 %p2, %r1, 5000;"
                 "or.pred %p1, %p1, %p2;"},
    {"AMultiple", "rem.u32 %r6, %r1, 999; setp.ne.u32 %p1, %r6, 998;"},
    {"BlocksOfTheGrid", "mov.u32 %r6, %nctaid.x; mov.u32 %r7, %nctaid.y; mul.lo.u32 %r6, %r6, %r7;"
                        "setp.lt.u32 %p1, %r6, 300;"},
};

class Reach : public testing::TestWithParam<Guard> {};

TEST_P(Reach, BehindAGuard) {
  const std::string plain = guarded(GetParam().text);
  const VerifyResult blind = compare(plain, guarded(GetParam().text, shuffled), false);
  EXPECT_TRUE(blind.ok());
  EXPECT_FALSE(blind.shown());
  EXPECT_THAT(text_of(blind, "k"), HasSubstr("not shown to be equal"));
  EXPECT_THAT(text_of(blind, "k"), HasSubstr("ld.global.f32 %f2, [%rd3+4] was never executed"));
  const VerifyResult good = compare(plain, guarded(GetParam().text, shuffled));
  EXPECT_TRUE(good.shown()) << text_of(good, "k");
  EXPECT_NE(good.right.shuffles, 0U);
  const VerifyResult wrong = compare(plain, guarded(GetParam().text, shuffled_wrongly));
  EXPECT_TRUE(wrong.failure) << text_of(wrong, "k");
}
INSTANTIATE_TEST_SUITE_P(All, Reach, testing::ValuesIn(guards),
                         [](const auto& guard) { return guard.param.name; });

TEST(Shown, LaunchesOfAllThatAGpuHoldsAreMade) {
  // What --coarsen=auto calls large on an H200, for four copies.
  const char* guard = "mov.u32 %r6, %nctaid.x; mov.u32 %r7, %nctaid.y; mul.lo.u32 %r6, %r6, %r7;"
                      "mul.wide.u32 %rd4, %r6, %r4; setp.lt.u64 %p2, %rd4, 2703360;"
                      "setp.ge.or.s32 %p1, %r2, %r1, %p2;";
  const VerifyResult result = compare(guarded(guard), guarded(guard, shuffled));
  EXPECT_TRUE(result.shown()) << text_of(result, "k");
}

TEST(Shown, AFullWarpIsAskedForWhereOneCanGet) {
  // Only small blocks are launched, so no shuffle ever does anything.
  const char* guard = "setp.ge.s32 %p1, %r2, %r1;";
  VerifyOptions options{.blocks = {{64}}, .arguments = {"?", "?", "20"}};
  const VerifyResult result =
      compare(guarded(guard), guarded(guard, shuffled_wrongly), true, options);
  // With n = 20 there is no full warp, but there is with others.
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(result.shown()) << text_of(result, "k");
  EXPECT_EQ(result.outside, 2U); // the load of the first version and the shuffle
  EXPECT_THAT(text_of(result, "k"), HasSubstr("lie outside the launches that were given"));
  options.arguments = {"?", "?", "?"};
  options.blocks = {{16}};
  EXPECT_FALSE(compare(guarded(guard), guarded(guard, shuffled), true, options).shown());
  // Where no launch has one, any lane will do.
  std::string required = guarded(guard), rewritten = guarded(guard, shuffled);
  for (std::string* text : {&required, &rewritten})
    text->insert(text->find("{\n.reg"), ".reqntid 16\n");
  options.blocks.clear();
  EXPECT_TRUE(compare(required, rewritten, true, options).shown());
  // One lane alone: of any warp that is all who can get there.
  const char* lane = "setp.ne.u32 %p1, %r2, 5;";
  EXPECT_TRUE(compare(guarded(lane), guarded(lane, shuffled)).shown());
  // Some lanes of every warp, as memory has it: a full warp is possible, but none comes.
  const char* some = "ld.global.u32 %r6, [%rd3]; setp.ne.u32 %p1, %r6, %r2;";
  const VerifyResult never_full = compare(guarded(some), guarded(some, shuffled));
  EXPECT_FALSE(never_full.shown());
}

TEST(Shown, WhatNobodyReachesIsNotAskedFor) {
  const char* dead = "mov.u32 %r6, %tid.x; setp.lt.u32 %p1, %r6, 2000; mov.f32 %f2, 0f00000000;"
                     "@%p1 bra over; st.global.f32 [%rd5], %f2; over: setp.ge.s32 %p1, %r2, %r1;";
  const VerifyResult result = compare(guarded(dead), guarded(dead));
  EXPECT_TRUE(result.shown()) << text_of(result, "k");
  EXPECT_EQ(result.goals, 3U);
}

TEST(Shown, PlacesOutsideTheGivenLaunchesAreNotReached) {
  const char* guard = "mov.u32 %r6, %nctaid.x; setp.lt.u32 %p1, %r6, 300;";
  const std::string plain = guarded(guard);
  const VerifyResult small =
      compare(plain, guarded(guard, shuffled_wrongly), true, {.grids = {{4}, {7}}});
  EXPECT_FALSE(small.failure);
  EXPECT_FALSE(small.shown()) << text_of(small, "k");
  EXPECT_EQ(small.outside, small.missing.size());
  EXPECT_THAT(text_of(small, "k"), HasSubstr("none of the launches that were given"));
  EXPECT_TRUE(compare(plain, guarded(guard, shuffled), true, {.grids = {{300}}}).shown());
  // What no launch at all reaches is still no goal.
  const char* dead = "mov.u32 %r6, %tid.x; setp.lt.u32 %p1, %r6, 2000; mov.f32 %f2, 0f00000000;"
                     "@%p1 bra over; st.global.f32 [%rd5], %f2; over: setp.ge.s32 %p1, %r2, %r1;";
  const VerifyResult result = compare(guarded(dead), guarded(dead), true, {.grids = {{4}}});
  EXPECT_TRUE(result.shown()) << text_of(result, "k");
  EXPECT_EQ(result.outside, 0U);
}

TEST(Shown, NothingWrittenIsNothingShown) {
  const char* never =
      "setp.ge.s32 %p1, %r2, 0; ld.global.u32 %r6, [%rd3]; setp.eq.u32 %p2, %r6, 77;"
      "setp.ne.u32 %p1, %r6, %r6;";
  const VerifyResult result =
      compare(guarded(never), guarded(never), true, {.arguments = {"?", "zeros:4096"}});
  EXPECT_TRUE(result.shown()) << text_of(result, "k");
  const char* leaves = "setp.eq.u32 %p1, %r2, %r2;";
  const VerifyResult idle = compare(guarded(leaves), guarded(leaves), true);
  EXPECT_TRUE(idle.ok());
  EXPECT_FALSE(idle.shown()) << text_of(idle, "k");
  EXPECT_THAT(text_of(idle, "k"), HasSubstr("nothing that writes could be compared"));
}

TEST(Shown, ADifferenceBesideABenignRaceIsNoAgreement) {
  // All threads write the same to one place, and that is a race.
  const char* guard = "mov.u32 %r6, 1; st.global.u32 [%rd1+-64], %r6; setp.ge.s32 %p1, %r2, %r1;";
  const VerifyOptions options{.blocks = {{64}, {40}}};
  const VerifyResult good = compare(guarded(guard), guarded(guard, shuffled), true, options);
  EXPECT_TRUE(good.shown()) << text_of(good, "k");
  const VerifyResult result =
      compare(guarded(guard), guarded(guard, shuffled_wrongly), true, options);
  EXPECT_FALSE(result.failure);
  EXPECT_NE(result.races, 0U);
  EXPECT_FALSE(result.shown());
  EXPECT_THAT(text_of(result, "k"), HasSubstr("data race"));
}

TEST(Shown, NoDifferenceBesideARaceMayBeLeft) {
  const char* guard = "mov.u32 %r6, 1; st.global.u32 [%rd1+-64], %r6; setp.ge.s32 %p1, %r2, %r1;";
  // Wrong for one size of eight.
  const char* seldom = R"(
activemask.b32 %r11; mov.b32 %r12, %f1;
and.b32 %r15, %r1, 7; setp.eq.u32 %p3, %r15, 3; selp.u32 %r16, 2, 1, %p3;
shfl.sync.down.b32 %r13, %r12, %r16, 31, %r11;
mov.b32 %f2, %r13;
mov.u32 %r14, %laneid; add.u32 %r17, %r14, %r16;
setp.ne.s32 %p2, %r11, -1;
@!%p2 setp.ge.u32 %p2, %r17, 32;
@%p2 ld.global.f32 %f2, [%rd3+4];)";
  const VerifyResult result =
      compare(guarded(guard), guarded(guard, seldom), true, {.blocks = {{64}, {40}}});
  EXPECT_FALSE(result.failure);
  EXPECT_NE(result.races, 0U);
  EXPECT_GE(result.equal, result.left_out);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_FALSE(result.shown()) << text_of(result, "k");
}

TEST(Shown, LaunchesThatAreLargeAlongThreeAxesAreMade) {
  const char* guard = "mov.u32 %r6, %nctaid.x; mov.u32 %r7, %nctaid.y; mul.lo.u32 %r6, %r6, %r7;"
                      "mov.u32 %r7, %nctaid.z; mul.lo.u32 %r6, %r6, %r7; shr.u32 %r7, %r4, 5;"
                      "mul.lo.u32 %r6, %r6, %r7; setp.lt.u32 %p2, %r6, 30000;"
                      "mov.u32 %r7, %ctaid.y; setp.ne.or.u32 %p2, %r7, 3, %p2;"
                      "mov.u32 %r7, %ctaid.z; setp.ne.or.u32 %p2, %r7, 1, %p2;"
                      "setp.ge.or.s32 %p1, %r2, %r1, %p2;";
  const VerifyResult result = compare(guarded(guard), guarded(guard, shuffled));
  EXPECT_TRUE(result.shown()) << text_of(result, "k");
}

TEST(Shown, WhatThereIsNoTimeForIsNotShown) {
  const char* guard = "setp.lt.s32 %p1, %r1, 100000;";
  const VerifyResult result = compare(guarded(guard), guarded(guard, shuffled), true,
                                      {.time = std::chrono::milliseconds(1)});
  EXPECT_TRUE(result.out_of_time);
  EXPECT_FALSE(result.shown());
  EXPECT_THAT(text_of(result, "k"), HasSubstr("the time is over"));
}

TEST(Shown, MostLaunchesHaveToBeComparable) {
  // Threads whose word is odd write their number to one place.
  const char* guard =
      "setp.eq.u32 %p1, %r1, 1; @!%p1 st.global.u32 [%rd1+-64], %r2; mov.pred %p1, 0;"
      "setp.ge.s32 %p1, %r2, %r1;";
  const VerifyResult result = compare(guarded(guard), guarded(guard, shuffled));
  EXPECT_LT(result.equal, result.left_out);
  EXPECT_FALSE(result.shown());
  EXPECT_THAT(text_of(result, "k"), HasSubstr("too few launches"));
}

TEST(Shown, TextThatTheScheduleDecidesSaysNothing) {
  const std::string text = R"(.version 8.6
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 number[4] = {37, 100, 32};
.global .align 1 .b8 line[2] = {10};
.visible .entry k()
{
.local .align 8 .b8 depot[8];
.reg .b32 %r<4>; .reg .b64 %rd<6>;
mov.u64 %rd1, depot;
cvta.local.u64 %rd1, %rd1;
mov.u32 %r1, %tid.x;
st.u32 [%rd1], %r1;
mov.u64 %rd2, number;
cvta.global.u64 %rd2, %rd2;
{ .param .b64 a; .param .b64 b; .param .b32 r;
st.param.b64 [a], %rd2; st.param.b64 [b], %rd1;
call.uni (r), vprintf, (a, b); }
mov.u64 %rd3, line;
cvta.global.u64 %rd3, %rd3;
{ .param .b64 a; .param .b64 b; .param .b32 r;
st.param.b64 [a], %rd3; st.param.b64 [b], 0;
call.uni (r), vprintf, (a, b); }
ret;
}
)";
  VerifyResult result = compare(text, text, true, {.blocks = {{1}}});
  EXPECT_TRUE(result.shown()) << text_of(result, "k");
  result = compare(text, text, true, {.blocks = {{64}}});
  EXPECT_FALSE(result.failure) << text_of(result, "k");
  EXPECT_FALSE(result.shown());
  EXPECT_THAT(result.left_out_reason, HasSubstr("depends on the schedule"));
}

TEST(Structs, FieldsAreMadeUpAndSolved) {
  const std::string text = R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 p[32])
{
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<6>;
ld.param.v2.u64 {%rd1, %rd2}, [p]; ld.param.u32 %r1, [p+16]; ld.param.u16 %r5, [p+24];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r2, %tid.x;
setp.lt.u32 %p1, %r1, 70000; setp.ne.u32 %p2, %r5, 40000; or.pred %p1, %p1, %p2;
@%p1 ret;
mul.wide.s32 %rd4, %r2, 4;
add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;
ld.global.u32 %r6, [%rd3];
st.global.u32 [%rd5], %r6;
ret;
}
)";
  std::string other = text;
  other.replace(other.find("[%rd3]"), 6, "[%rd3+4]");
  EXPECT_TRUE(compare(text, text).shown());
  const VerifyResult result = compare(text, other);
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(text_of(result, "k"), HasSubstr("--arg={0=random:u32:"));
  EXPECT_THAT(text_of(result, "k"), HasSubstr(";16=u32:"));
  EXPECT_THAT(text_of(result, "k"), HasSubstr(";24=u16:40000}"));
}

} // namespace
} // namespace ptxasw::verify
