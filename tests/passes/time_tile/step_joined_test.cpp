// Guards of several ways: branches behind one another of which some thread leaves at the second
// one.
#include "emulator/kernel_text.hpp"
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/other_kernel/joined_guards.hpp"
#include "passes/time_tile/place_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;
using ::testing::HasSubstr;

// Of %r10 and %r11, which lie inside a rim of one place; `ways` lead to `store` or to `done`. %r30
// is part of what is stored.
std::string with_ways(std::string_view ways) {
  return test::kernel_text(fmt::format(R"({}
sub.s32 %r12, %r1, 1;
sub.s32 %r13, %r2, 1;
setp.lt.s32 %p1, %r10, 1;
setp.ge.s32 %p2, %r10, %r12;
or.pred %p9, %p1, %p2;
setp.lt.s32 %p3, %r11, 1;
setp.ge.s32 %p4, %r11, %r13;
or.pred %p10, %p3, %p4;
or.pred %p11, %p9, %p10;
@%p11 bra done;
mov.u32 %r30, 3;
mad.lo.s32 %r14, %r11, %r1, %r10;
mul.wide.s32 %rd3, %r14, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
{}
store:
ld.global.u32 %r31, [%rd4+-4];
ld.global.u32 %r32, [%rd4+4];
ld.global.u32 %r33, [%rd4];
mul.lo.s32 %r34, %r33, %r30;
sub.s32 %r35, %r31, %r32;
add.s32 %r36, %r35, %r34;
st.global.u32 [%rd5], %r36;
done: ret;)",
                                       test::places, ways));
}

// Few columns, or few rows.
constexpr std::string_view either = R"(
setp.lt.s32 %p5, %r10, 5;
@%p5 bra store;
add.s32 %r20, %r11, 1;
setp.gt.s32 %p6, %r20, 6;
@%p6 bra done;)";

struct Ways {
  const char* name;
  std::string text;
};
void PrintTo(const Ways& ways, std::ostream* out) {
  *out << ways.name;
}

class JoinedGuards : public ::testing::TestWithParam<Ways> {};

TEST_P(JoinedGuards, LeaveTheSame) {
  const Stepped stepped(with_ways(GetParam().text), "k", {3, 32, 4, 8, 4});
  ASSERT_EQ(stepped.plan.refused.text, "");
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (const auto& [nx, ny] : {std::pair{5U, 6U}, {3U, 3U}, {40U, 7U}, {9U, 33U}, {70U, 41U}}) {
    const StepHost host = test::host_for(stepped, nx, ny, {16, 4, 1}, nx);
    EXPECT_EQ(host.difference(6, &merged), "") << nx << ' ' << ny;
    EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << nx;
  }
  EXPECT_EQ(merged, 5U);
}

INSTANTIATE_TEST_SUITE_P(T, JoinedGuards,
                         ::testing::Values(Ways{"either", std::string(either)}, Ways{"neither", R"(
setp.lt.s32 %p5, %r10, 5;
@!%p5 bra store;
setp.lt.s32 %p6, %r11, 7;
@!%p6 bra done;)"},
                                           Ways{"to_the_store", R"(
setp.lt.s32 %p5, %r10, 5;
@%p5 bra store;
setp.ge.s32 %p6, %r11, 7;
@!%p6 bra store;
bra done;)"},
                                           Ways{"negated_to_the_store", R"(
setp.lt.s32 %p5, %r10, 5;
@!%p5 bra store;
setp.ge.s32 %p6, %r11, 7;
@%p6 bra store;
bra done;)"},
                                           Ways{"three", R"(
setp.lt.s32 %p5, %r10, 5;
@%p5 bra store;
setp.eq.s32 %p6, %r11, 7;
@%p6 bra store;
and.b32 %r21, %r10, %r11;
and.b32 %r22, %r21, 1;
setp.eq.s32 %p7, %r22, 0;
@%p7 bra done;)"},
                                           Ways{"around", R"(
setp.lt.s32 %p5, %r10, 5;
@%p5 bra other;
setp.ge.s32 %p6, %r11, 7;
@%p6 bra done;
other:
xor.b32 %r21, %r10, %r11;
and.b32 %r22, %r21, 3;
setp.eq.s32 %p7, %r22, 0;
@%p7 bra done;)"},
                                           Ways{"that_nobody_goes", R"(
setp.gt.s32 %p5, %r3, -1;
setp.lt.s32 %p6, %r10, 5;
@%p6 bra few;
mov.u32 %r22, 1;
@%p5 bra store;
bra done;
few:
@%p5 bra store;
bra done;)"}),
                         [](const auto& row) { return std::string(row.param.name); });

// What stands between the two branches is done by those who come there alone.
TEST(JoinedGuards, SayWhyNot) {
  const auto refusal = [](std::string_view old, std::string_view now) {
    std::string ways(either);
    ways.replace(ways.find(old), old.size(), now);
    return Stepped(with_ways(ways), "k", {3, 32, 4, 8, 4}).plan.refused.text;
  };
  EXPECT_EQ(refusal("", ""), "");
  const auto several = HasSubstr("several paths lead to its stores");
  // It loads; it changes what is stored, and what was asked; somebody else comes there.
  EXPECT_THAT(refusal("add.s32 %r20, %r11, 1;", "ld.global.u32 %r20, [%rd4];"), several);
  EXPECT_THAT(refusal("add.s32 %r20", "mov.u32 %r30, 4;\nadd.s32 %r20"), several);
  EXPECT_THAT(refusal("setp.gt.s32 %p6, %r20, 6;\n@%p6", "setp.gt.s32 %p5, %r20, 6;\n@%p5"),
              several);
  EXPECT_THAT(refusal("setp.lt.s32 %p5, %r10, 5;\n@%p5 bra store;\n",
                      "setp.eq.s32 %p8, %r10, 8;\n@%p8 bra second;\n"
                      "setp.lt.s32 %p5, %r10, 5;\n@%p5 bra store;\nsecond:\n"),
              several);
}

// Of what is left each instruction is one of the program's.
TEST(JoinedGuards, KnowWhereTheyStood) {
  const test::Emulated made(with_ways(either));
  const auto joined = passes::join_guards(made.kernel);
  ASSERT_TRUE(joined);
  const auto& now = joined->other.kernel.body.insts;
  ASSERT_EQ(joined->origin.size(), now.size());
  std::size_t fresh = 0;
  for (std::size_t n = 0; n < now.size(); ++n)
    if (joined->origin[n] == ptx::none)
      ++fresh;
    else
      EXPECT_EQ(now[n].op, made.kernel.body.insts[joined->origin[n]].op) << n;
  EXPECT_EQ(fresh, 2U); // a negation and what joins
  EXPECT_FALSE(passes::join_guards(joined->other.kernel));
}

} // namespace
} // namespace ptxasw
