// Loads behind branches: a region has the elements that plain launches load, and no others.
#include "passes/time_tile/any_host.hpp"

#include <cstring>
#include <string>

namespace ptxasw {
namespace {

using test::StepHost;
using test::Stepped;

// kernel k(in, out, n, c): %r3 in the block, %r4 the place, %rd6 its element of in, %rd9 of c, %r7
// in the tile.
std::string line_kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u64 c)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .b64 %rd<12>;
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
ld.param.u64 %rd10, [c];
cvta.to.global.u64 %rd11, %rd10;
add.s64 %rd9, %rd11, %rd5;
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
    EXPECT_TRUE(host.loads_what_single_ones_touch(6)) << n;
  }
  EXPECT_EQ(merged, 3U);
}

TEST(StepBranches, AreBounds) {
  expect_same(own + unless(is_last, behind));
  expect_same(filled + unless(is_last, in_tile));
}

// Behind the last element there is none, and what else keeps a place from reading it is asked when
// it comes to the load.
TEST(StepBranches, OrElseOnesThatArePassed) {
  expect_same(own + unless(is_last_by_bytes, behind));
  expect_same(own + unless(is_data, behind));
  expect_same(filled + unless(is_last_by_bytes, in_tile));
  // Of another array, too.
  expect_same(own + unless(is_last_by_bytes, "ld.global.f32 %f4, [%rd9+4]"));
  // Nothing is read of the array but what data ask for.
  expect_same("ld.global.f32 %f3, [%rd9];\nld.global.f32 %f6, [%rd9];\nmov.f32 %f4, %f3;\n" +
              unless(is_data, behind));
}

// All elements are 1, and stay so; what is no such number was computed at the end of a region, of
// what is not there. Places with it come to no load.
TEST(StepBranches, AreAskedWhatIsRight) {
  const std::string changes = R"(
setp.lt.s32 %p5, %r4, 1;
@%p5 bra end;
ld.global.f32 %f3, [%rd6];
ld.global.f32 %f6, [%rd6+-4];
sub.f32 %f7, %f6, %f3;
mov.f32 %f4, %f7;
setp.eq.f32 %p4, %f3, 0f3F800000;
)";
  for (const char* const load : {"ld.global.f32 %f4, [%rd6+4]", "ld.global.f32 %f4, [%rd9+4]"}) {
    unsigned merged = 0;
    const Stepped stepped(line_kernel(changes + "@%p4 bra over;\n" + load + ";\nover:"), "k",
                          {.count = 5, .width = 32, .strips = 4, .rows = 8, .columns = 4});
    ASSERT_EQ(stepped.entry.refused.text, "");
    for (unsigned n = 33; n < 64; ++n) {
      StepHost host = host_for(stepped, n, 1, {64, 1, 1}, n);
      for (auto& buffer : host.buffers)
        for (std::size_t at = 0; at < buffer.size(); at += 4) {
          const float one = 1;
          std::memcpy(buffer.data() + at, &one, 4);
        }
      EXPECT_EQ(host.difference(8, &merged), "") << n;
      EXPECT_TRUE(host.loads_what_single_ones_touch(8)) << n << load;
    }
    EXPECT_GE(merged, 20U);
  }
}

// A register that is stored may have another value behind the store, on the way that the interior
// goes.
TEST(StepBranches, AreBehindAStore) {
  const Stepped stepped(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 in2, .param .u64 out2,
                  .param .u32 n)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .b64 %rd<19>;
.reg .f32 %f<9>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u64 %rd3, [in2];
ld.param.u64 %rd4, [out2];
ld.param.u32 %r1, [n];
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %tid.x;
mov.u32 %r8, %ntid.x;
mad.lo.s32 %r4, %r2, %r8, %r3;
setp.ge.s32 %p1, %r4, %r1;
@%p1 bra end;
mul.wide.s32 %rd5, %r4, 4;
cvta.to.global.u64 %rd6, %rd1;
cvta.to.global.u64 %rd7, %rd2;
cvta.to.global.u64 %rd8, %rd3;
cvta.to.global.u64 %rd9, %rd4;
add.s64 %rd10, %rd6, %rd5;
add.s64 %rd11, %rd7, %rd5;
add.s64 %rd12, %rd8, %rd5;
add.s64 %rd13, %rd9, %rd5;
ld.global.f32 %f1, [%rd10];
mov.f32 %f2, 0f3F000000;
st.global.f32 [%rd11], %f2;
add.s32 %r5, %r1, -1;
setp.ge.s32 %p2, %r4, %r5;
@%p2 bra last;
ld.global.f32 %f2, [%rd12+4];
last:
add.f32 %f3, %f1, %f2;
st.global.f32 [%rd13], %f3;
end: ret;
}
)",
                        "k", {.count = 3, .width = 32, .strips = 4, .rows = 8, .columns = 4});
  ASSERT_EQ(stepped.entry.refused.text, "");
  const StepHost host = host_for(stepped, 200, 1, {64, 1, 1}, 7);
  unsigned merged = 0;
  EXPECT_EQ(host.difference(7, &merged), "");
  EXPECT_EQ(merged, 2U);
}

// Of two parts a load may read one, whatever the other one is.
TEST(StepBranches, OrHalvesAreLeftAlone) {
  const Stepped stepped(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .b64 %rd<9>;
.reg .f32 %f<9>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %tid.x;
mov.u32 %r8, %ntid.x;
mad.lo.s32 %r4, %r2, %r8, %r3;
mul.wide.s32 %rd5, %r4, 8;
add.s64 %rd6, %rd3, %rd5;
add.s64 %rd7, %rd4, %rd5;
setp.ge.s32 %p1, %r4, %r1;
@%p1 bra end;
ld.global.v2.f32 {%f3, %f4}, [%rd6];
setp.gt.f32 %p4, %f3, 0f00000000;
@%p4 bra over;
ld.global.f32 %f4, [%rd6+12];
over:
st.global.v2.f32 [%rd7], {%f3, %f4};
end: ret;
}
)",
                        "k");
  EXPECT_TRUE(stepped.entry.refused.text.ends_with("not every place that stores reads that"))
      << stepped.entry.refused.text;
}

// An element that is stored to, or is read by the same place in any case, may be loaded ahead.
TEST(StepBranches, OrWhatIsTouchedAnyway) {
  expect_same(own + unless(is_data, "ld.global.f32 %f4, [%rd6]"));
  expect_same(own + "ld.global.f32 %f6, [%rd6+4];\nadd.f32 %f3, %f3, %f6;\n" +
              unless(is_data, behind));
}

} // namespace
} // namespace ptxasw
