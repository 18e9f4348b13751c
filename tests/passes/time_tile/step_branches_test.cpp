// Loads behind branches: a region has the elements that plain launches load, and no others.
#include "passes/time_tile/any_host.hpp"

#include <algorithm>
#include <string>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// kernel k(in, out, n): %r3 in the block, %r4 the place, %rd6 its element of in, %r7 in the tile.
std::string line_kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .b64 %rd<9>;
.reg .f32 %f<9>;
.shared .align 4 .b8 tile[260];
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %tid.x;
mov.u32 %r8, %ntid.x;
mad.lo.s32 %r4, %r2, %r8, %r3;
mul.wide.s32 %rd5, %r4, 4;
add.s64 %rd6, %rd3, %rd5;
add.s64 %rd7, %rd4, %rd5;
mov.u32 %r5, tile;
shl.b32 %r6, %r3, 2;
add.s32 %r7, %r5, %r6;
add.s32 %r11, %r1, -1;
setp.ge.s32 %p1, %r4, %r1;
@%p1 bra end;
)" + body +
         R"(
add.f32 %f5, %f3, %f4;
st.global.f32 [%rd7], %f5;
end: ret;
}
)";
}

const std::string is_last = "setp.ge.s32 %p4, %r4, %r11;\n";
// The same of bytes, which is no bound of a coordinate.
const std::string is_last_by_bytes =
    "shl.b32 %r12, %r4, 2;\nshl.b32 %r13, %r11, 2;\nsetp.ge.s32 %p4, %r12, %r13;\n";
const std::string is_data = "setp.gt.f32 %p4, %f3, 0f00000000;\n";
const std::string own = "ld.global.f32 %f3, [%rd6];\nmov.f32 %f4, 0f00000000;\n";

std::string unless(const std::string& condition, const std::string& load) {
  return condition + "@%p4 bra over;\n" + load + ";\nover:";
}

// Every element of the block's places, and the one behind the last, if it is there.
const std::string filled = R"(
ld.global.f32 %f1, [%rd6];
st.shared.f32 [%r7], %f1;
setp.ne.s32 %p2, %r3, 63;
setp.ge.s32 %p3, %r4, %r11;
or.pred %p2, %p2, %p3;
@%p2 bra past;
ld.global.f32 %f2, [%rd6+4];
st.shared.f32 [%r7+4], %f2;
past:
bar.sync 0;
ld.shared.f32 %f3, [%r7];
mov.f32 %f4, 0f00000000;
)";

const std::string behind = "ld.global.f32 %f4, [%rd6+4]", in_tile = "ld.shared.f32 %f4, [%r7+4]";

void expect_same(const std::string& body) {
  const Stepped stepped(line_kernel(body), "k",
                        {.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4});
  ASSERT_EQ(stepped.entry.refused.text, "");
  unsigned merged = 0;
  for (const unsigned n : {64U, 70U, 200U}) {
    const StepHost host = host_for(stepped, n, 1, {64, 1, 1}, n);
    EXPECT_EQ(host.difference(6, &merged), "") << n;
    auto plain = host.run(6, true);
    const auto several = host.run(6, false);
    plain.loaded.merge(plain.stored);
    EXPECT_TRUE(std::ranges::includes(plain.loaded, several.loaded)) << n;
  }
  EXPECT_EQ(merged, 3U);
}

void expect_refused(const std::string& body) {
  const Stepped stepped(line_kernel(body), "k");
  EXPECT_TRUE(stepped.entry.refused.text.ends_with("not every place that stores reads that"))
      << stepped.entry.refused.text;
}

TEST(StepBranches, AreBounds) {
  expect_same(own + unless(is_last, behind));
  expect_same(filled + unless(is_last, in_tile));
}

// Behind the last element there is none, and what else keeps a place from reading it no region
// asks.
TEST(StepBranches, OrElseNothingIsRead) {
  expect_refused(own + unless(is_last_by_bytes, behind));
  expect_refused(own + unless(is_data, behind));
  expect_refused(filled + unless(is_last_by_bytes, in_tile));
}

// An element that is stored to, or is read by the same place in any case, may be loaded ahead.
TEST(StepBranches, OrWhatIsTouchedAnyway) {
  expect_same(own + unless(is_data, "ld.global.f32 %f4, [%rd6]"));
  expect_same(own + "ld.global.f32 %f6, [%rd6+4];\nadd.f32 %f3, %f3, %f6;\n" +
              unless(is_data, behind));
}

} // namespace
} // namespace ptxasw
