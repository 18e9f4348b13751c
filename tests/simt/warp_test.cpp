// Exchange between lanes: results in every schedule, and what is undefined.
#include "simt/kernels.hpp"

#include <gmock/gmock.h>

namespace ptxasw::simt {
namespace {

using testing::HasSubstr;

struct WarpCase {
  const char* name;
  const char* body; // leaves its result in %r9, %r8 = 3 * lane + 1
  std::uint32_t (*expected)(std::uint32_t lane);
};
void PrintTo(const WarpCase& c, std::ostream* out) {
  *out << c.name;
}

std::uint32_t v(std::uint32_t lane) {
  return 3 * lane + 1;
}

const WarpCase warp_cases[] = {
    {"down", "shfl.sync.down.b32 %r9, %r8, 1, 31, -1;",
     [](std::uint32_t i) { return i < 31 ? v(i + 1) : v(i); }},
    {"up", "shfl.sync.up.b32 %r9, %r8, 2, 0, -1;",
     [](std::uint32_t i) { return i >= 2 ? v(i - 2) : v(i); }},
    {"bfly", "shfl.sync.bfly.b32 %r9, %r8, 16, 31, -1;", [](std::uint32_t i) { return v(i ^ 16); }},
    {"idx", "shfl.sync.idx.b32 %r9, %r8, 5, 31, -1;", [](std::uint32_t) { return v(5); }},
    {"idx in segments of 8", "shfl.sync.idx.b32 %r9, %r8, 2, 0x181f, -1;",
     [](std::uint32_t i) { return v((i & 24) + 2); }},
    {"down in segments of 8", "shfl.sync.down.b32 %r9, %r8, 3, 0x181f, -1;",
     [](std::uint32_t i) { return i % 8 + 3 < 8 ? v(i + 3) : v(i); }},
    {"up in segments of 8", "shfl.sync.up.b32 %r9, %r8, 3, 0x1800, -1;",
     [](std::uint32_t i) { return i % 8 >= 3 ? v(i - 3) : v(i); }},
    {"clamp below the segment", "shfl.sync.down.b32 %r9, %r8, 1, 9, -1;",
     [](std::uint32_t i) { return i < 9 ? v(i + 1) : v(i); }},
    {"predicate of down", "shfl.sync.down.b32 %r10|%p1, %r8, 4, 31, -1; selp.u32 %r9, 1, 0, %p1;",
     [](std::uint32_t i) { return i + 4 <= 31 ? 1U : 0U; }},
    {"delta of 32 wraps", "shfl.sync.down.b32 %r9, %r8, 32, 31, -1;",
     [](std::uint32_t i) { return v(i); }},
    {"ballot", "setp.gt.u32 %p1, %r1, 28; vote.sync.ballot.b32 %r9, %p1, -1;",
     [](std::uint32_t) { return 0xe0000000U; }},
    {"negated ballot", "setp.gt.u32 %p1, %r1, 28; vote.sync.ballot.b32 %r9, !%p1, -1;",
     [](std::uint32_t) { return 0x1fffffffU; }},
    {"all", "setp.lt.u32 %p1, %r1, 32; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;",
     [](std::uint32_t) { return 1U; }},
    {"any", "setp.eq.u32 %p1, %r1, 7; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;",
     [](std::uint32_t) { return 1U; }},
    {"uni", "setp.eq.u32 %p1, %r1, 7; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;",
     [](std::uint32_t) { return 0U; }},
    {"match any", "and.b32 %r8, %r1, 3; match.any.sync.b32 %r9, %r8, -1;",
     [](std::uint32_t i) { return 0x11111111U << (i % 4); }},
    {"match all", "mov.u32 %r8, 5; match.all.sync.b32 %r9|%p1, %r8, -1;",
     [](std::uint32_t) { return 0xffffffffU; }},
    {"match all, different", "match.all.sync.b32 %r9|%p1, %r8, -1; @%p1 add.u32 %r9, %r9, 1;",
     [](std::uint32_t) { return 0U; }},
    {"redux add", "redux.sync.add.u32 %r9, %r8, -1;", [](std::uint32_t) { return 3 * 496 + 32U; }},
    {"redux min signed", "sub.s32 %r8, 10, %r8; redux.sync.min.s32 %r9, %r8, -1;",
     [](std::uint32_t) { return 10 - 94U; }},
    {"redux max", "redux.sync.max.u32 %r9, %r8, -1;", [](std::uint32_t) { return v(31); }},
    {"redux or", "redux.sync.or.b32 %r9, %r8, -1;", [](std::uint32_t) { return 127U; }},
    {"elect", "elect.sync %r10|%p1, -1; selp.u32 %r9, %r10, 99, %p1;",
     [](std::uint32_t i) { return i == 0 ? 0U : 99U; }},
    {"halves with their own masks",
     "and.b32 %r11, %r1, 16; shl.b32 %r12, 0xffff, %r11; shfl.sync.idx.b32 %r9, %r8, %r11, 31, "
     "%r12;",
     [](std::uint32_t i) { return v(i & 16); }},
    {"two instructions that meet",
     "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; shfl.sync.bfly.b32 %r9, %r8, 16, 31, -1; bra B; A: "
     "shfl.sync.bfly.b32 %r9, %r8, 16, 31, -1; B: bar.warp.sync -1;",
     [](std::uint32_t i) { return v(i ^ 16); }},
    {"predicated, with the mask of those that take part",
     "setp.lt.u32 %p1, %r1, 8; mov.u32 %r9, 77; @%p1 shfl.sync.bfly.b32 %r9, %r8, 1, 31, 255;",
     [](std::uint32_t i) { return i < 8 ? v(i ^ 1) : 77U; }},
};

class WarpOperation : public testing::TestWithParam<WarpCase> {};

TEST_P(WarpOperation, InEverySchedule) {
  const std::string body =
      fmt::format("mad.lo.u32 %r8, %r1, 3, 1; {} st.global.u32 [%rd2], %r9; ret;", GetParam().body);
  for (const Schedule& schedule : some_schedules()) {
    Shape shape;
    shape.schedule = schedule;
    shape.report_undefined = true;
    const Ran ran = run_body(body, shape);
    ASSERT_EQ(ran.result.message, "") << schedule.options();
    for (std::uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(ran.words[i], GetParam().expected(i)) << "lane " << i << ", " << schedule.options();
  }
}

INSTANTIATE_TEST_SUITE_P(All, WarpOperation, testing::ValuesIn(warp_cases));

struct Undefined {
  const char* name;
  const char* body;
  const char* message;
};
void PrintTo(const Undefined& c, std::ostream* out) {
  *out << c.name;
}

const Undefined undefined[] = {
    {"a lane that does not arrive",
     "setp.lt.u32 %p1, %r1, 16; @%p1 bra E; shfl.sync.down.b32 %r9, %r1, 1, 31, -1; E: "
     "bar.warp.sync -1; ret;",
     "do not arrive"},
    {"not in its own mask", "shfl.sync.down.b32 %r9, %r1, 1, 31, 1; ret;",
     "is not in its own member mask"},
    {"divergent aligned barrier",
     "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B: ret;",
     "divergent aligned barrier"},
    {"predicated aligned barrier", "setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0; ret;",
     "divergent aligned barrier"},
};

class WarpUndefined : public testing::TestWithParam<Undefined> {};
TEST_P(WarpUndefined, IsReported) {
  const Ran ran = run_body(GetParam().body);
  EXPECT_EQ(ran.result.status, Result::Status::undefined);
  EXPECT_THAT(ran.result.message, HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(All, WarpUndefined, testing::ValuesIn(undefined));

TEST(Shuffle, FromALaneThatHasExitedIsUndefined) {
  const char* body = "setp.gt.u32 %p1, %r1, 7; @%p1 exit; "
                     "shfl.sync.down.b32 %r9, %r1, 1, 31, -1; st.global.u32 [%rd2], %r9; ret;";
  EXPECT_TRUE(run_body(body).result.ok());
  Shape shape;
  shape.report_undefined = true;
  const Ran ran = run_body(body, shape);
  EXPECT_EQ(ran.result.status, Result::Status::undefined);
  EXPECT_THAT(ran.result.message, HasSubstr("thread (7, 0, 0)"));
}

// The other lanes wait at a join for those that vote, and have to leave before the vote is
// complete.
TEST(Vote, LanesThatGoOnAndExitAreNotMissed) {
  for (const Schedule& schedule : some_schedules()) {
    const Ran ran = run_body("setp.ge.u32 %p1, %r1, %r2; @%p1 bra over;"
                             "setp.gt.u32 %p2, %r1, 3; vote.sync.ballot.b32 %r5, %p2, -1;"
                             "st.global.u32 [%rd2], %r5; over: st.global.u32 [%rd2+128], %r1; ret;",
                             {.n = 10, .schedule = schedule});
    ASSERT_TRUE(ran.result.ok()) << schedule.options() << ": " << ran.result.message;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(ran.words[lane], lane < 10 ? 0x3f0U : lane) << schedule.options();
      EXPECT_EQ(ran.words[32 + lane], lane) << schedule.options();
    }
  }
}

TEST(ActiveMask, OneLaneAtATimeSeesItself) {
  Shape shape;
  shape.schedule.kind = Schedule::Kind::one_lane;
  const Ran ran = run_body("activemask.b32 %r5; st.global.u32 [%rd2], %r5; ret;", shape);
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(ran.words[i], 1U << i);
}

} // namespace
} // namespace ptxasw::simt
