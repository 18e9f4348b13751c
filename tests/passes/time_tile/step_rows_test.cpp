// Threads one behind the other whose places lie row by row: x and y are rest and quotient.
#include "emulator/kernel_text.hpp"
#include "passes/time_tile/any_host.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

constexpr std::string_view number = R"(
mov.u32 %r4, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.s32 %r9, %r4, %r5, %r3;
)";
constexpr std::string_view whole = R"(
mul.lo.s32 %r6, %r1, %r2;
setp.ge.s32 %p9, %r9, %r6;
@%p9 bra out;
)";
constexpr std::string_view divided = R"(
div.s32 %r11, %r9, %r1;
rem.s32 %r10, %r9, %r1;
)";
constexpr std::string_view inside_rows = R"(
setp.lt.s32 %p1, %r10, 1;
@%p1 bra out;
add.s32 %r12, %r1, -1;
setp.ge.s32 %p2, %r10, %r12;
@%p2 bra out;
)";
constexpr std::string_view inside_columns = R"(
setp.lt.s32 %p3, %r11, 1;
@%p3 bra out;
add.s32 %r13, %r2, -1;
setp.ge.s32 %p4, %r11, %r13;
@%p4 bra out;
)";
// %rd5 = the element in `in`, %rd6 = that in `out`.
constexpr std::string_view addresses = R"(
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mul.wide.s32 %rd7, %r9, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
)";
constexpr std::string_view sum = R"(
mul.wide.s32 %rd8, %r1, 4;
add.s64 %rd9, %rd5, %rd8;
sub.s64 %rd10, %rd5, %rd8;
ld.global.f32 %f1, [%rd5+-4];
ld.global.f32 %f2, [%rd9];
ld.global.f32 %f3, [%rd10];
sub.rn.f32 %f4, %f1, %f2;
add.rn.f32 %f5, %f4, %f3;
st.global.f32 [%rd6], %f5;
)";

template <class... Parts> std::string kernel(const Parts&... parts) {
  std::string body(number);
  (body.append(parts), ...);
  return test::kernel_text(body + "out: ret;");
}

constexpr passes::StepShape shape{.count = 3, .width = 32, .strips = 4, .rows = 8};

TEST(StepRows, LeaveTheSame) {
  const Stepped stepped(kernel(whole, divided, inside_rows, inside_columns, addresses, sum), "k",
                        shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  ASSERT_TRUE(stepped.plan.rows.has_value());
  EXPECT_EQ(offsets_text(stepped.plan), "0(-1,0,0) 0(0,-1,0) 0(0,1,0)");
  unsigned merged = 0;
  for (const auto& [nx, ny] : {std::pair{3U, 3U}, {3U, 90U}, {90U, 3U}, {61U, 47U}, {128U, 33U}})
    EXPECT_EQ(host_for(stepped, nx, ny, {32, 4, 1}, nx).difference(5, &merged), "")
        << nx << 'x' << ny;
  EXPECT_EQ(merged, 5U);
}

// Guards of a number that are not those of whole rows are asked as they are.
TEST(StepRows, LeaveTheSameWhereSomePlacesOfARowStoreNothing) {
  constexpr std::string_view some = R"(
setp.eq.s32 %p8, %r9, 1000;
@%p8 bra out;
cvt.rn.f32.s32 %f9, %r9;
)";
  std::string work(sum);
  work.replace(work.find("%f4, %f1, %f2"), 13, "%f4, %f1, %f9");
  const Stepped stepped(kernel(whole, divided, inside_rows, inside_columns, some, addresses, work),
                        "k", shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  for (const auto& [nx, ny] : {std::pair{61U, 47U}, {31U, 90U}})
    EXPECT_EQ(host_for(stepped, nx, ny, {32, 4, 1}, nx).difference(5), "") << nx << 'x' << ny;
}

TEST(StepRows, NeedAThreadForEachPlace) {
  const Stepped stepped(kernel(whole, divided, inside_rows, inside_columns, addresses, sum), "k",
                        shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  StepHost host = host_for(stepped, 61, 47, {32, 4, 1}, 1);
  EXPECT_EQ(host.fit_error(), "");
  host.grid.x = 61 * 47 / 128;
  EXPECT_EQ(host.fit_error(), "some rows have no threads");
  host.grid.x = 61 * 47 / 128 + 1;
  EXPECT_EQ(host.fit_error(), "");
  host.grid.y = 2;
  EXPECT_EQ(host.fit_error(), "several threads store to one element");
  host.grid.y = 1;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{0xffffffff}})
    for (const unsigned parameter : {2U, 3U}) {
      StepHost other = host;
      other.arguments[parameter] = size;
      EXPECT_NE(other.fit_error(), "") << parameter << ' ' << size;
    }
}

// What the guard of the rows says of sizes beside is asked of the launch.
TEST(StepRows, AGuardOfSizesIsAsked) {
  constexpr std::string_view whole_and_large = R"(
mul.lo.s32 %r6, %r1, %r2;
setp.ge.s32 %p8, %r9, %r6;
setp.lt.s32 %p7, %r2, 9;
or.pred %p9, %p7, %p8;
@%p9 bra out;
)";
  const Stepped stepped(
      kernel(whole_and_large, divided, inside_rows, inside_columns, addresses, sum), "k", shape);
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  EXPECT_EQ(host_for(stepped, 20, 9, {32, 1, 1}, 1).difference(7, &merged), "");
  EXPECT_NE(merged, 0U);
  EXPECT_EQ(host_for(stepped, 20, 8, {32, 1, 1}, 1).fit_error(), "a size is too small");
}

TEST(StepRows, NearMissesAreRefused) {
  const auto refused = [](const std::string& text) {
    const Stepped stepped(text, "k", shape);
    return stepped.entry.refused.text;
  };
  constexpr std::string_view a_sum = R"(
add.s32 %r6, %r1, %r2;
setp.ge.s32 %p9, %r9, %r6;
@%p9 bra out;
)";
  constexpr std::string_view less_by_one = R"(
mad.lo.s32 %r6, %r1, %r2, -1;
setp.ge.s32 %p9, %r9, %r6;
@%p9 bra out;
)";
  for (const std::string_view guard : {a_sum, less_by_one})
    EXPECT_THAT(refused(kernel(guard, divided, inside_rows, addresses, sum)),
                testing::HasSubstr("not at a constant offset"));
  // A thread far behind the last row wraps, and would store.
  constexpr std::string_view wraps = R"(
add.s32 %r14, %r11, 2147483000;
setp.ge.s32 %p4, %r14, %r2;
@%p4 bra out;
)";
  EXPECT_THAT(refused(kernel(divided, inside_rows, wraps, addresses, sum)),
              testing::HasSubstr("some threads are no places"));
  // Of less than 0 the quotient is rounded up.
  constexpr std::string_view above = R"(
sub.s32 %r14, %r9, %r1;
div.s32 %r15, %r14, %r1;
mad.lo.s32 %r16, %r15, %r1, %r10;
mul.wide.s32 %rd11, %r16, 4;
add.s64 %rd12, %rd3, %rd11;
ld.global.f32 %f1, [%rd12];
st.global.f32 [%rd6], %f1;
)";
  EXPECT_EQ(refused(kernel(whole, divided, inside_rows, inside_columns, addresses, above)), "");
  EXPECT_NE(refused(kernel(whole, divided, inside_rows, addresses, above)), "");
}

} // namespace
} // namespace ptxasw
