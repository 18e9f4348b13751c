// Steps that store to an element several times: what a thread stores last is there in the end.
#include "emulator/kernel_text.hpp"
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/place_text.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;
using testing::HasSubstr;

// %f1 to %f3 = the element itself and its neighbours along x, %rd6 = where it is stored, %p8 is
// true where the element is above 0.
constexpr std::string_view loaded = R"(
setp.lt.s32 %p1, %r10, 1;
add.s32 %r12, %r1, -1;
setp.ge.s32 %p2, %r10, %r12;
setp.ge.s32 %p3, %r11, %r2;
or.pred %p5, %p1, %p2;
or.pred %p7, %p5, %p3;
@%p7 bra done;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mad.lo.s32 %r14, %r11, %r1, %r10;
mul.wide.s32 %rd7, %r14, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd5+-4];
ld.global.f32 %f3, [%rd5+4];
setp.gt.f32 %p8, %f1, 0f00000000;
setp.gt.f32 %p9, %f2, %f3;
sub.rn.f32 %f4, %f2, %f3;
add.rn.f32 %f5, %f1, %f4;
)";

std::string kernel_that_stores(std::string_view stores) {
  return test::kernel_text(std::string(test::places) + std::string(loaded) + std::string(stores) +
                           "done: ret;");
}

constexpr passes::StepShape with_columns{
    .count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4};

struct Stores {
  const char* name;
  std::string_view work;
};

class StepsThatStoreAgain : public ::testing::TestWithParam<Stores> {};

TEST_P(StepsThatStoreAgain, LeaveTheSame) {
  for (const passes::StepShape& some : {with_columns, {5, 64, 4, 8, 2}}) {
    const Stepped stepped(kernel_that_stores(GetParam().work), "k", some);
    ASSERT_EQ(stepped.entry.refused.text, "");
    test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("again_{}", GetParam().name));
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{3U, 3U}, {5U, 7U}, {61U, 47U}, {128U, 33U}})
      EXPECT_EQ(host_for(stepped, nx, ny, {32, 4, 1}, nx).difference(some.count + 3, &merged), "")
          << nx << 'x' << ny;
    EXPECT_EQ(merged, 4U);
  }
}

INSTANTIATE_TEST_SUITE_P(T, StepsThatStoreAgain,
                         ::testing::Values(Stores{"twice", R"(
st.global.f32 [%rd6], %f4;
st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"one_register", R"(
st.global.f32 [%rd6], %f4;
mul.rn.f32 %f4, %f4, 0f3e800000;
st.global.f32 [%rd6], %f4;
)"},
                                           Stores{"on_two_ways", R"(
st.global.f32 [%rd6], %f1;
@%p8 bra up;
st.global.f32 [%rd6], %f4;
bra.uni done;
up: st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"ahead_on_one_way", R"(
@%p8 bra up;
st.global.f32 [%rd6], %f4;
up: st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"or_is_done", R"(
st.global.f32 [%rd6], %f4;
@%p8 bra done;
st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"or_goes_on", R"(
st.global.f32 [%rd6], %f4;
@%p8 bra up;
bra.uni done;
up: st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"again_and_again", R"(
st.global.f32 [%rd6], %f1;
@!%p8 bra done;
st.global.f32 [%rd6], %f4;
@%p9 bra done;
st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"or_meets", R"(
st.global.f32 [%rd6], %f1;
@%p8 bra up;
@%p9 bra done;
st.global.f32 [%rd6], %f4;
up: @!%p9 bra done;
st.global.f32 [%rd6], %f5;
)"},
                                           Stores{"beside_the_place", R"(
st.global.f32 [%rd6], %f4;
setp.lt.s32 %p10, %r10, 3;
@%p10 bra done;
st.global.f32 [%rd6], %f5;
)"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(StepsThatStoreAgainRefused, WhereSomeDoNotStore) {
  const auto refused = [](std::string_view stores) {
    return Stepped(kernel_that_stores(stores), "k", with_columns).plan.refused.text;
  };
  EXPECT_THAT(refused(R"(
@%p8 bra up;
@%p9 bra done;
st.global.f32 [%rd6], %f4;
up: st.global.f32 [%rd6], %f5;
)"),
              HasSubstr("do not store"));
  // What it has stored it may not read.
  EXPECT_NE(refused(R"(
st.global.f32 [%rd6], %f4;
ld.global.f32 %f6, [%rd6];
add.rn.f32 %f7, %f6, %f5;
st.global.f32 [%rd6], %f7;
)"),
            "");
}

// %rd22 = where a second array is stored to, that a third one is exchanged with.
std::string with_another(std::string_view stores) {
  std::string text = kernel_that_stores(std::string("ld.param.u64 %rd20, [other];\n"
                                                    "cvta.to.global.u64 %rd21, %rd20;\n"
                                                    "add.s64 %rd22, %rd21, %rd7;\n"
                                                    "ld.param.u64 %rd23, [third];\n"
                                                    "cvta.to.global.u64 %rd24, %rd23;\n"
                                                    "add.s64 %rd25, %rd24, %rd7;\n"
                                                    "ld.global.f32 %f10, [%rd25];\n") +
                                        std::string(stores));
  const std::string_view last = ".param .u32 m";
  return text.insert(text.find(last) + last.size(), ", .param .u64 other, .param .u64 third");
}

// What was stored to one array is what the register had then.
TEST(StepsThatStoreAgain, OfOneRegisterToTwoArrays) {
  const Stepped stepped(with_another(R"(
add.rn.f32 %f4, %f4, %f10;
st.global.f32 [%rd6], %f4;
mul.rn.f32 %f4, %f4, 0f3e800000;
st.global.f32 [%rd22], %f4;
)"),
                        "k", with_columns);
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  EXPECT_EQ(host_for(stepped, 61, 47, {32, 4, 1}, 1).difference(with_columns.count + 3, &merged),
            "");
  EXPECT_EQ(merged, 1U);
}

// Of two arrays one is stored to on one way alone.
TEST(StepsThatStoreAgainRefused, WhereOneOfTwoArraysIsLeftOut) {
  const auto refused = [](std::string_view stores) {
    return Stepped(with_another(stores), "k", with_columns).plan.refused.text;
  };
  EXPECT_THAT(refused(R"(
@%p8 bra up;
st.global.f32 [%rd6], %f4;
st.global.f32 [%rd22], %f1;
bra.uni done;
up: st.global.f32 [%rd6], %f5;
)"),
              HasSubstr("do not store"));
  EXPECT_THAT(refused(R"(
@%p8 bra up;
st.global.f32 [%rd22], %f1;
up: st.global.f32 [%rd6], %f5;
)"),
              HasSubstr("do not store"));
}

} // namespace
} // namespace ptxasw
