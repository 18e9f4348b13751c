// Buffers of which a place has several elements: structures, vectors, planes behind one another.
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

constexpr passes::StepShape small_region{.count = 3, .width = 32, .strips = 8, .rows = 4};

// %r13 = the place in an array of n x m places without its rim, %rd3 and %rd4 the buffers.
constexpr std::string_view placed = R"(
add.s32 %r12, %r1, -1;
add.s32 %r15, %r2, -1;
setp.lt.s32 %p1, %r10, 1;
setp.ge.s32 %p2, %r10, %r12;
setp.lt.s32 %p3, %r11, 1;
setp.ge.s32 %p4, %r11, %r15;
or.pred %p5, %p1, %p2;
or.pred %p6, %p3, %p4;
or.pred %p7, %p5, %p6;
@%p7 bra done;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mad.lo.s32 %r13, %r11, %r1, %r10;
)";

// %rd5 and %rd6 = where the place's structure of so many bytes is read and written, %rd8 the one
// below it.
std::string with_structures(unsigned bytes, std::string_view work) {
  return test::kernel_text(fmt::format(R"({}{}
mul.wide.s32 %rd7, %r13, {};
mul.wide.s32 %rd9, %r1, {};
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
add.s64 %rd8, %rd5, %rd9;
{}
done: ret;)",
                                       test::places, placed, bytes, bytes, work));
}

struct Fields {
  const char* name;
  unsigned bytes; // of a place
  std::string_view work;
};

class StepsOfStructures : public ::testing::TestWithParam<Fields> {};

TEST_P(StepsOfStructures, LeaveTheSame) {
  const auto& [name, bytes, work] = GetParam();
  for (const passes::StepShape& shape : {small_region, {5, 64, 4, 8, 2}, {3, 32, 4, 8, 1}}) {
    const Stepped stepped(with_structures(bytes, work), "k", shape);
    ASSERT_EQ(stepped.entry.refused.text, "");
    EXPECT_EQ(stepped.entry.contract.swaps.size(), 1U);
    test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("structures_{}", name));
    unsigned merged = 0;
    for (const auto& [nx, ny] : {std::pair{3U, 3U}, {5U, 7U}, {61U, 47U}, {128U, 33U}}) {
      const StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx, 2 * nx * ny);
      EXPECT_EQ(host.difference(shape.count + 3, &merged), "") << nx << 'x' << ny;
    }
    EXPECT_EQ(merged, 4U);
  }
}

INSTANTIATE_TEST_SUITE_P(T, StepsOfStructures,
                         ::testing::Values(Fields{"vectors", 16, R"(
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];
ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd8];
sub.rn.f32 %f9, %f5, %f2;
sub.rn.f32 %f10, %f6, %f3;
sub.rn.f32 %f11, %f7, %f4;
sub.rn.f32 %f12, %f8, %f1;
st.global.v4.f32 [%rd6], {%f9, %f10, %f11, %f12};
)"},
                                           Fields{"doubles", 16, R"(
ld.global.v2.f64 {%fd1, %fd2}, [%rd5+-16];
ld.global.f64 %fd3, [%rd8+8];
sub.rn.f64 %fd4, %fd3, %fd1;
st.global.v2.f64 [%rd6], {%fd4, %fd2};
)"},
                                           Fields{"bytes", 4, R"(
ld.global.v4.u8 {%r20, %r21, %r22, %r23}, [%rd5];
ld.global.v2.u8 {%r24, %r25}, [%rd8+2];
add.s32 %r20, %r20, %r25;
st.global.v4.u8 [%rd6], {%r21, %r22, %r20, %r24};
)"},
                                           // A vector on one way, its parts on the other.
                                           Fields{"ways", 8, R"(
ld.global.v2.f32 {%f1, %f2}, [%rd5+-8];
ld.global.f32 %f3, [%rd8+4];
setp.gt.f32 %p8, %f1, %f3;
@%p8 bra up;
st.global.v2.f32 [%rd6], {%f2, %f3};
bra.uni done;
up: st.global.f32 [%rd6+4], %f1;
st.global.f32 [%rd6], %f3;
)"},
                                           // Fields of several sizes, and bytes that are none.
                                           Fields{"sizes", 24, R"(
ld.global.f64 %fd1, [%rd5+8];
ld.global.f64 %fd2, [%rd8+8];
ld.global.u16 %r20, [%rd5+2+-24];
ld.global.f32 %f1, [%rd8+16];
sub.rn.f64 %fd3, %fd1, %fd2;
add.s32 %r21, %r20, 3;
st.global.u16 [%rd6+2], %r21;
st.global.f64 [%rd6+8], %fd3;
st.global.f32 [%rd6+16], %f1;
)"},
                                           // One is stored to again, one is never read.
                                           Fields{"again", 12, R"(
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd8+4];
setp.gt.f32 %p8, %f1, %f2;
st.global.f32 [%rd6], %f2;
st.global.f32 [%rd6+8], %f1;
st.global.f32 [%rd6+4], 0f3F800000;
@%p8 bra done;
st.global.f32 [%rd6+4], %f1;
)"},
                                           // The others are nobody's.
                                           Fields{"one_of_three", 12, R"(
ld.global.f32 %f1, [%rd5+4+-12];
ld.global.f32 %f2, [%rd8+4];
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd6+4], %f3;
)"},
                                           // Data say whether a neighbour is read, and which.
                                           Fields{"late", 8, R"(
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd5+4];
setp.gt.f32 %p8, %f1, %f2;
mov.f32 %f3, %f1;
@%p8 bra up;
ld.global.f32 %f3, [%rd8+4];
up: add.rn.f32 %f4, %f3, %f2;
st.global.f32 [%rd6], %f4;
st.global.f32 [%rd6+4], %f1;
)"}),
                         [](const auto& row) { return std::string(row.param.name); });

std::string refusal(const std::string& text) {
  return Stepped(text, "k", small_region).plan.refused.text;
}

TEST(StepsOfStructuresRefused, SayWhy) {
  // Two bytes of one are the other one's.
  EXPECT_THAT(refusal(with_structures(16, R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
st.global.f32 [%rd6+2], %f1;
)")),
              HasSubstr("a second store"));
  // The last field is the next place's first one.
  EXPECT_THAT(refusal(with_structures(8, R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
st.global.f32 [%rd6+4], %f1;
st.global.f32 [%rd6+8], %f1;
)")),
              HasSubstr("fields lie too close"));
  EXPECT_THAT(refusal(with_structures(8, R"(
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd5+4];
st.global.f32 [%rd6], %f1;
setp.gt.f32 %p8, %f1, %f2;
@%p8 bra done;
st.global.f32 [%rd6+4], %f1;
)")),
              HasSubstr("do not store"));
  // What no place stores to has other values in the other buffer.
  EXPECT_THAT(refusal(with_structures(12, R"(
ld.global.f32 %f1, [%rd5];
ld.global.f32 %f2, [%rd5+8];
add.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd6], %f3;
st.global.f32 [%rd6+4], %f1;
)")),
              HasSubstr("not at a constant offset"));
  // Half a field.
  EXPECT_THAT(refusal(with_structures(8, R"(
ld.global.f32 %f1, [%rd5];
ld.global.u16 %r20, [%rd5+4];
st.global.f32 [%rd6], %f1;
st.global.u32 [%rd6+4], %r20;
)")),
              HasSubstr("not"));
}

// Two planes of f32, the second one %r16 elements behind the first.
std::string with_planes(std::string_view apart, std::string_view more = "") {
  std::string text = test::kernel_text(fmt::format(R"({}{}
{}
mul.wide.s32 %rd7, %r13, 4;
mul.wide.s32 %rd9, %r16, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
add.s64 %rd8, %rd5, %rd9;
add.s64 %rd10, %rd6, %rd9;
ld.global.f32 %f1, [%rd5+-4];
ld.global.f32 %f2, [%rd8+4];
sub.rn.f32 %f3, %f2, %f1;
st.global.f32 [%rd10], %f1;
st.global.f32 [%rd6], %f3;
done: ret;)",
                                                   test::places, placed, apart));
  const std::string_view last = ".param .u32 m";
  return text.insert(text.find(last) + last.size(), more);
}

TEST(StepsOfPlanes, LieApartOrAreNotMerged) {
  const Stepped stepped(with_planes("ld.param.u32 %r16, [apart];", ", .param .u32 apart"), "k",
                        small_region);
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (const auto& [nx, ny] : {std::pair{3U, 3U}, {61U, 47U}, {70U, 35U}}) {
    StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, nx, nx * ny);
    for (const unsigned apart : {nx * ny, nx * ny - 2 * nx, nx * ny + 5}) {
      host.arguments[4] = apart;
      EXPECT_EQ(host.difference(6, &merged), "") << nx << 'x' << ny << ' ' << apart;
    }
    const unsigned places = nx * (ny - 3) + nx; // from the first that is read to the last
    host.arguments[4] = places;
    EXPECT_EQ(host.fit_error(), "") << nx << 'x' << ny;
    host.arguments[4] = places - 1;
    EXPECT_EQ(host.fit_error(), "fields lie too close") << nx << 'x' << ny;
  }
  EXPECT_EQ(merged, 9U);
}

// As where a size is written in the program.
TEST(StepsOfPlanes, MayBeAConstantApart) {
  const Stepped stepped(with_planes("mov.u32 %r16, 4096;"), "k", small_region);
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  EXPECT_EQ(host_for(stepped, 61, 47, {32, 4, 1}, 1, 8192).difference(6, &merged), "");
  EXPECT_EQ(merged, 1U);
  EXPECT_EQ(host_for(stepped, 90, 80, {32, 4, 1}, 1, 8192).fit_error(), "fields lie too close");
}

TEST(StepsOfPlanes, AreTwoBuffers) {
  const Stepped stepped(with_planes("mul.lo.s32 %r16, %r1, %r2;"), "k", small_region);
  ASSERT_EQ(stepped.entry.refused.text, "");
  EXPECT_EQ(stepped.entry.contract.swaps.size(), 1U);
  EXPECT_EQ(stepped.entry.contract.touched.size(), 4U);
}

} // namespace
} // namespace ptxasw
