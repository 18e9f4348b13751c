// Who may change places: one kernel for each rule, and one that shows what the rule lets through.
#include "passes/remap/remap_find.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::kernel_text;
using ::testing::HasSubstr;

std::string why(const std::string& text, const Remap& remap, std::size_t function = 0) {
  Emulated emulated(text, function);
  return passes::plan_remap(emulated.kernel, remap).refused;
}

// Both coordinates of the block are read, so that only `body` can be what is refused.
std::string why_not_blocks(const std::string& body, const std::string& directives = "") {
  return why(kernel_text("mov.u32 %r50, %ctaid.x; mov.u32 %r51, %ctaid.y;\n" + body + "\nret;",
                         directives),
             {.kind = RemapKind::column, .width = 4});
}

std::string why_not_threads(const std::string& body, const std::string& directives = "") {
  return why(kernel_text("mov.u32 %r51, %ctaid.y;\n" + body + "\nret;", directives),
             {.kind = RemapKind::thread_swap, .width = 32});
}

struct RemapCase {
  const char* body;
  const char* reason; // empty: nothing against it
};

const RemapCase blocks[] = {
    {"", ""},
    {"bar.sync 0;", ""},
    {".shared .b32 s; st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r2, [s];", ""},
    {"shfl.sync.down.b32 %r2, %r1, 1, 31, -1;", ""},
    {"mov.u32 %r2, %smid;", ""},
    {"mov.u64 %rd3, %gridid;", ""},
    {"mov.u64 %rd3, %clock64;", ""},
    {"griddepcontrol.wait;", ""},
    {"membar.gl;", ""},
    {"atom.global.add.u32 %r2, [%rd2], 1;", ""},
    {"L: red.global.add.u32 [%rd2], 1; add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;",
     ""},
    {"L: atom.global.add.u32 %r2, [%rd2], 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
     "its loop may wait for what another thread stores"},
    {"L: ld.volatile.global.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
     "may wait for what another thread stores"},
    {"L: ld.acquire.gpu.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
     "may wait for what another thread stores"},
    {"L: ld.global.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;", ""},
    {"L: ld.global.cg.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
     "may wait for what another thread stores"},
    {"L: ld.global.cg.u32 %r2, [%rd2]; add.u32 %r4, %r4, %r2; sub.u32 %r1, %r1, 1; "
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra L;",
     ""},
    {"cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3], %r1;", ""},
    {".shared .b32 s; L: ld.volatile.shared.u32 %r2, [s]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;",
     "its loop may wait for what another thread stores"},
    {"bra M; L: atom.global.add.u32 %r2, [%rd2], 0; M: @%p1 bra L; @%p2 bra N; bra M; N:",
     "it may wait for a block"},
    {"mov.u32 %r2, %cluster_ctarank;", "reads %cluster_ctarank"},
    {"mov.u32 %r2, %clusterid.x;", "reads %clusterid.x"},
    {"mapa.u64 %rd3, %rd2, %r1;", "ties the index of a block to its cluster"},
    {"barrier.cluster.arrive;", "ties the index of a block to its cluster"},
    {"fence.acq_rel.cluster;", "ties the index of a block to its cluster"},
    {"atom.relaxed.cluster.global.add.u32 %r2, [%rd2], 1;",
     "ties the index of a block to its cluster"},
    {"frobnicate.u32 %r2, %r1;", "unknown instruction"},
    {"mov.u16 %rs1, %ctaid.x;", "reads %ctaid.x in an unusual width"},
    {"cvt.u32.u16 %r2, %ctaid.y;", "reads %ctaid.y in an unusual width"},
    {"cvt.u64.u32 %rd3, %ctaid.y;", ""},
    {"mov.u32 %r2, %ctaid .x;", "names %ctaid in an unusual way"},
};

TEST(RemapRules, Blocks) {
  for (const RemapCase& one : blocks) {
    if (*one.reason == '\0')
      EXPECT_EQ(why_not_blocks(one.body), "") << one.body;
    else
      EXPECT_THAT(why_not_blocks(one.body), HasSubstr(one.reason)) << one.body;
  }
  EXPECT_EQ(why_not_blocks("", ".reqnctapercluster 2, 1, 1"), "its blocks form clusters");
}

TEST(RemapRules, BlocksAlongOneAxisOnly) {
  const Remap column{.kind = RemapKind::column, .width = 4};
  EXPECT_THAT(why(kernel_text("mov.u32 %r4, %ctaid.x; ret;"), column),
              HasSubstr("it does not read %ctaid.y"));
  EXPECT_THAT(why(kernel_text("mov.u32 %r4, %ctaid.y; ret;"), column),
              HasSubstr("it does not read %ctaid.x"));
}

// A function may read %ctaid; printing and allocating do not depend on it.
TEST(RemapRules, Calls) {
  const auto with = [](const std::string& callee) {
    return why(".version 8.0\n.target sm_90\n.address_size 64\n.extern .func " + callee +
                   "();\n.visible .entry k()\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, %ctaid.x; "
                   "mov.u32 %r2, %ctaid.y;\ncall.uni " +
                   callee + ";\nret;\n}\n",
               {.kind = RemapKind::swap}, 1);
  };
  EXPECT_THAT(with("helper"), HasSubstr("what it calls may read the index of its block"));
  EXPECT_THAT(with("__assertfail"), HasSubstr("what it calls may read the index of its block"));
  for (const char* callee : {"vprintf", "malloc", "free"})
    EXPECT_EQ(with(callee), "");
}

const RemapCase threads[] = {
    {"", ""},
    {"st.global.u32 [%rd2], %r3;", ""},
    {".local .b32 l; st.local.u32 [l], %r3;", ""},
    {"add.cc.u32 %r4, %r3, %r3; addc.u32 %r5, %r3, %r3;", ""},
    {".shared .b32 s; mov.u64 %rd3, s; st.u32 [%rd3], %r3;", "uses s, in shared memory"},
    {"setp.eq.u32 %p1, %r3, 0; @%p1 bra.uni L; L:", "promises that the lanes of a warp agree"},
    {"ld.shared.u32 %r4, [%r1];", "the block's shared memory"},
    {"cvta.shared.u64 %rd3, %rd2;", "makes an address of the block's shared memory"},
    {"cvta.shared.u64 %rd3, 16;", "makes an address of the block's shared memory"},
    {"cvta.local.u64 %rd3, %rd2;", ""},
    {"L: ld.global.cg.u32 %r4, [%rd2]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L;",
     "may wait for what another thread stores"},
    {"bar.sync 0;", "waits for other threads"},
    {"atom.global.add.u32 %r4, [%rd2], 1;", "blocks can observe each other through it"},
    {"red.global.add.u32 [%rd2], 1;", "blocks can observe each other through it"},
    {"membar.gl;", "orders memory for other blocks to see"},
    {"ld.volatile.global.u32 %r4, [%rd2];", "volatile or ordered access"},
    {"shfl.sync.down.b32 %r4, %r3, 1, 31, -1;", "depends on which lanes run together"},
    {"mov.u32 %r4, %laneid;", "reads %laneid"},
    {"mov.u32 %r4, %lanemask_lt;", "reads %lanemask_lt"},
    {"mov.u32 %r4, %warpid;", "reads %warpid"},
    {"mov.u32 %r4, %clock;", "reads %clock"},
    {"mov.u32 %r4, %smid;", "reads %smid"},
    {"mov.u16 %rs1, %tid.x;", "reads %tid.x in an unusual width"},
};

TEST(RemapRules, Threads) {
  for (const RemapCase& one : threads) {
    if (*one.reason == '\0')
      EXPECT_EQ(why_not_threads(one.body), "") << one.body;
    else
      EXPECT_THAT(why_not_threads(one.body), HasSubstr(one.reason)) << one.body;
  }
  EXPECT_EQ(why_not_threads("", ".reqnctapercluster 2, 1, 1"), "its blocks form clusters");
  EXPECT_EQ(why(kernel_text("ret;"), {.kind = RemapKind::thread_swap, .width = 32}),
            "it has one axis only");
}

TEST(RemapRules, NotAKernel) {
  const std::string function =
      ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n{\nret;\n}\n";
  EXPECT_EQ(why(function, {.kind = RemapKind::column, .width = 4}), "not a kernel");
  EXPECT_EQ(why(function, {.kind = RemapKind::thread_swap, .width = 4}), "not a kernel");
}

} // namespace
} // namespace ptxasw
