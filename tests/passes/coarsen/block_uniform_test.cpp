// Kernels whose threads meet: one small kernel for every rule, and which variables of shared memory
// the copies have of their own.
#include "passes/coarsen/find/block_uniform.hpp"

#include "emulator/kernel_text.hpp"
#include "passes/coarsen/block_found.hpp"
#include "passes/coarsen/find/serialized_blocks.hpp"
#include "passes/warp_reduce/trees.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::kernel_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// %r4 = %ctaid.y, %p1: it is at least m, %p2: the thread is the first, %p4: of some threads of some
// blocks, %rd5 = &out[%tid.x];
// %r5 = s, %r6 = &s[%tid.x], %r7 = &t[%tid.x].
std::string kernel(const std::string& body) {
  return kernel_text(R"(
    .shared .align 4 .b8 s[256];
    .shared .align 4 .b8 t[256];
    mov.u32 %r4, %ctaid.y;
    setp.ge.u32 %p1, %r4, %r2;
    setp.eq.u32 %p2, %r3, 0;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r5, s;
    mad.lo.u32 %r6, %r3, 4, %r5;
    mov.u32 %r8, t;
    mad.lo.u32 %r7, %r3, 4, %r8;
    add.u32 %r12, %r3, %r4;
    setp.lt.u32 %p4, %r12, %r2;
)" + body + "\nst.global.u32 [%rd5], %r9;\nret;");
}

// Functions that the kernel, the last one, may call.
constexpr const char* functions = R"(
.extern .func (.param .b32 r) outside (.param .b32 x);
.weak .func (.param .b32 r) weak (.param .b32 x) { st.param.b32 [r], 1; ret; }
.func (.param .b32 r) leaf (.param .b32 x)
{ .reg .b32 %a; .local .b32 l; ld.param.b32 %a, [x]; st.local.b32 [l], %a; ld.local.b32 %a, [l];
  st.param.b32 [r], %a; ret; }
.func (.param .b32 r) inner (.param .b32 x)
{ .reg .b32 %a; .param .b32 y; ld.param.b32 %a, [x]; st.param.b32 [y], %a;
  call.uni (r), leaf, (y); ret; }
.func (.param .b32 r) block (.param .b32 x)
{ .reg .b32 %a; mov.u32 %a, %ctaid.y; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) meets (.param .b32 x) { bar.sync 0; st.param.b32 [r], 1; ret; }
.func (.param .b32 r) leaves (.param .b32 x) { exit; }
.func (.param .b32 r) polls (.param .b64 x)
{ .reg .b32 %a; .reg .b64 %p; ld.param.b64 %p, [x]; ld.global.cg.b32 %a, [%p];
  st.param.b32 [r], %a; ret; }
.func (.param .b32 r) looks (.param .b64 x)
{ .reg .b32 %a; .reg .b64 %p; ld.param.b64 %p, [x]; ld.global.b32 %a, [%p];
  st.param.b32 [r], %a; ret; }
)";

std::string with_functions(std::string text) {
  return text.insert(text.find(".visible .entry"), functions);
}

// One that gets %r3 (or %rd1) and gives %r9.
std::string call(const std::string& name) {
  const bool address = name == "polls" || name == "looks";
  return fmt::format("{{ .param .{0} x1; .param .b32 r1; st.param.{0} [x1], {1};\n"
                     "call.uni (r1), {2}, (x1);\nld.param.b32 %r9, [r1]; }}",
                     address ? "b64" : "b32", address ? "%rd1" : "%r3", name);
}

struct Found {
  Emulated emulated;
  passes::BlockPlan plan;

  explicit Found(const std::string& body, std::size_t function = 0)
      : emulated(function == 0 ? kernel(body) : with_functions(kernel(body)), function),
        plan(passes::plan_copies(emulated.kernel, {.factors = {1, 2, 1}})) {}
  [[nodiscard]] std::vector<std::string> own() const {
    std::vector<std::string> names;
    for (const std::uint32_t symbol : plan.own)
      names.emplace_back(emulated.kernel.body.symbols[symbol].name);
    return names;
  }
};

TEST(BlockUniform, EachHasItsReason) {
  const struct {
    const char* code;
    const char* reason;
  } cases[] = {
      {"barrier.cluster.arrive;", "not a barrier of threads of the block"},
      {"@%p1 bar.sync 0;", "not reach this barrier"},
      {"bar.sync %r4;", "not reach this barrier"},
      {"bar.sync 0, %r4;", "not reach this barrier"},
      {"bar.red.popc.u32 %r9, %r4, %p2;", "not reach this barrier"},
      {"@%p4 bra L;\nbar.red.popc.u32 %r9, 0, %p2;\nL:", "not reach this barrier"},
      {"activemask.b32 %r9;", "which lanes run together"},
      {"ld.mmio.relaxed.sys.global.u32 %r9, [%rd1];", "volatile or ordered"},
      {"fence.proxy.async;", "orders memory"},
      {"griddepcontrol.wait;", "orders memory"},
      {"multimem.red.relaxed.sys.global.add.u32 [%rd1], %r3;", "blocks can observe each other"},
      {"red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r3, [%rd2];",
       "blocks can observe each other"},
      {"L:\natom.global.cas.b32 %r9, [%rd1], 0, 1;\nsetp.ne.u32 %p3, %r9, 0;\n@%p3 bra L;",
       "may wait for what another thread stores"},
      {"atom.shared.add.u32 %r9, [%r3], 1;", "shared memory without a name"},
      {"atom.shared.exch.b32 %r9, [s], %r5;", "reads the address of shared memory"},
      // How often it is asked hangs on the copy: the barrier inside is not for all.
      {"atom.global.add.u32 %r10, [%rd1], 1;\nmov.u32 %r9, 0;\nL:\nbar.sync 0;\n"
       "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, %r10;\n@%p3 bra L;",
       "not reach this barrier"},
      // The last block goes on by itself, with barriers.
      {"atom.global.inc.u32 %r9, [%rd1], 7;\nsetp.ne.u32 %p3, %r9, 7;\n@%p3 ret;\nbar.sync 0;",
       "not reconverge"},
      {"mov.u32 %r9, %clock;", "reads %clock"},
      {"mov.u32 %r9, %dynamic_smem_size;", "reads %dynamic_smem_size"},
      {".local .b32 l[2];", "declares local memory"},
      // Where shared memory lies, or of which variable it is.
      {"st.global.u32 [%rd5+4], %r6;", "reads the address of shared memory"},
      {"setp.lt.u32 %p3, %r6, %r7;", "reads the address of shared memory"},
      {"sub.u32 %r9, %r6, %r5;", "reads the address of shared memory"},
      {"sub.u32 %r9, %r3, %r5;", "reads the address of shared memory"},
      {"sub.u32 %r10, %r3, %r5;\nld.shared.u32 %r9, [%r10];", "reads the address of shared memory"},
      {"mad.lo.u32 %r10, %r5, 2, %r3;\nld.shared.u32 %r9, [%r10];",
       "reads the address of shared memory"},
      {"mad.hi.u32 %r10, %r3, 2, %r5;\nld.shared.u32 %r9, [%r10];",
       "reads the address of shared memory"},
      {"mul.lo.u32 %r9, %r5, 2;", "reads the address of shared memory"},
      {"mad.lo.u32 %r9, %r5, 2, %r3;", "reads the address of shared memory"},
      {"shfl.sync.bfly.b32 %r9, %r5, 1, 31, -1;", "reads the address of shared memory"},
      {"mov.u64 %rd8, s;\ncvta.shared.u64 %rd8, %rd8;", "makes an address of the block's shared"},
      {"cvta.local.u64 %rd8, %rd3;", "local memory"},
      {"cvt.u64.u32 %rd8, %r5;\nld.u32 %r9, [%rd8];", "reads the address of shared memory"},
      {"mov.u64 %rd8, s;\nld.u32 %r9, [%rd8];", "uses the address of shared memory"},
      {"ld.shared.u32 %r9, [%r3];", "shared memory without a name"},
      {"ld.shared.u32 %r9, [64];", "shared memory without a name"},
      {".shared .b8 u[49152];\nst.shared.u8 [u], %r4;", "bytes of shared memory"},
      // Some copies leave, or do not come to a barrier.
      {"@%p4 ret;\nbar.sync 0;", "not reconverge"},
      {"@%p4 bra L;\n@%p2 ret;\nL:\nadd.u32 %r9, %r3, 1;", "not reconverge"},
      {"@%p4 bra L;\n@%p2 trap;\nL:\nadd.u32 %r9, %r3, 1;", "not reconverge"},
      {"@%p4 bra L;\nbar.sync 0;\nL:\nadd.u32 %r9, %r3, 1;", "not reach this barrier"},
      {"mov.u32 %r9, 0;\nL:\nbar.sync 0;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, %r4;\n"
       "@%p3 bra L;\nadd.u32 %r9, %r3, 1;",
       "not reach this barrier"},
      {"ld.shared.u32 %r10, [%r7];\nst.shared.u32 [%r7], %r4;\nmov.u32 %r9, 0;\nL:\nbar.sync 0;\n"
       "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, %r10;\n@%p3 bra L;\nadd.u32 %r9, %r3, 1;",
       "not reach this barrier"},
      // Who else runs the stretch that copies would run by themselves meets there, or leaves.
      {"mov.u32 %r9, 0;\n@%p2 bra L;\nbar.sync 0;\n@%p1 bra M;\nadd.u32 %r9, %r3, 1;\nL:\n"
       "add.u32 %r9, %r9, 2;\nM:\nadd.u32 %r9, %r9, 2;",
       "not reach this barrier"},
      {"mov.u32 %r9, 0;\n@%p2 bra L;\n@%p2 ret;\n@%p4 bra M;\nadd.u32 %r9, %r3, 1;\nL:\n"
       "add.u32 %r9, %r9, 2;\nM:\nadd.u32 %r9, %r9, 2;",
       "not reconverge"},
      {"t: .branchtargets M, L;\n@%p4 bra L;\nM:\nadd.u32 %r9, %r3, 2;\nL:\nadd.u32 %r9, %r3, 1;",
       "not reconverge"},
      {"t: .branchtargets M, L;\n@%p4 bra L;\nbrx.idx %r3, t;\nM:\nadd.u32 %r9, %r3, 2;\nL:\n"
       "add.u32 %r9, %r3, 1;",
       "not reconverge"},
      // It would end inside a scope, or at a label there.
      {"mov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\n{ .reg .b32 q;\nsetp.lt.u32 %p3, %r9, %r4;\n"
       "@%p2 bra M;\n@%p3 bra L;\nM: }\nbar.sync 0;",
       "not reconverge"},
      {"mov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\n{ .reg .b32 q;\nsetp.lt.u32 %p3, %r9, %r4;\n"
       "@%p3 bra L;\nmov.u32 q, 1; }\nbar.sync 0;",
       "not reconverge"},
      {"add.cc.u32 %r9, %r4, %r4;\naddc.u32 %r9, %r9, 0;\nbar.sync 0;", "carry"},
  };
  for (const auto& [code, reason] : cases)
    EXPECT_THAT(Found(code).plan.refused, HasSubstr(reason)) << code;
}

// Copies may agree on a branch that is the block's, and begin again, one after the other, where
// they do not.
TEST(BlockUniform, BlocksThatPart) {
  for (const char* code : {
           "@%p1 ret;\nbar.sync 0;",
           "@!%p1 bra L;\nexit;\nL:\nbar.sync 3;",
           "@%p1 bra L;\nbar.sync 0;\nL:\nadd.u32 %r9, %r3, 1;",
           "@%p1 bra L;\nbar.red.popc.u32 %r9, 0, %p2;\nL:",
           "@%p1 bra L;\n@%p2 ret;\nL:\nadd.u32 %r9, %r3, 1;",
           // Threads part and meet again, or end where nobody meets any more.
           "@%p1 ret;\n@%p2 bra L;\nadd.u32 %r9, %r3, 1;\nL:\nbar.sync 0;\n@%p2 ret;",
           "@%p1 ret;\nbar.sync 0;\n@%p2 bra L;\nshfl.sync.down.b32 %r9, %r3, 1, 31, -2;\nL:",
           // What was loaded; a second branch.
           "ld.global.u32 %r10, [%rd1];\n@%p1 ret;\nsetp.eq.u32 %p3, %r4, 3;\n@%p3 ret;\nbar.sync "
           "0;",
       }) {
    const Found found(code);
    EXPECT_EQ(found.plan.refused.text, "") << code;
    EXPECT_THAT(found.plan.regions, IsEmpty()) << code;
  }
}

TEST(BlockUniform, BlocksThatMayNotBeginAgain) {
  for (const char* code : {
           // Somebody could tell; not once.
           "st.global.u32 [%rd5], %r3;\n@%p1 ret;\nbar.sync 0;",
           "st.shared.u32 [%r6], %r3;\n@%p1 ret;\nbar.sync 0;",
           "red.global.add.u32 [%rd1], 1;\n@%p1 ret;\nbar.sync 0;",
           "ld.volatile.global.u32 %r10, [%rd1];\n@%p1 ret;\nbar.sync 0;",
           "bar.sync 0;\n@%p1 ret;\nbar.sync 0;",
           "mov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\nsetp.eq.u32 %p3, %r9, %r4;\n@%p3 ret;\n"
           "setp.lt.u32 %p3, %r9, %r2;\n@%p3 bra L;\nbar.sync 0;",
           "t: .branchtargets M, L;\nbrx.idx %r4, t;\nM:\nadd.u32 %r9, %r3, 2;\nL:\nbar.sync 0;",
           // Not all threads go the same way, or come there.
           "@%p4 ret;\nbar.sync 0;",
           "@%p2 bra L;\n@%p1 ret;\nL:\nbar.sync 0;",
           "@%p2 bra L;\n{ .reg .b32 q;\n@%p1 bra M;\nmov.u32 q, 1; }\nadd.u32 %r9, %r3, 1;\n"
           "M:\nadd.u32 %r9, %r3, 1;\nL:\nbar.sync 0;",
           // Barriers of some threads.
           "@%p1 ret;\nbar.sync 0, 64;",
           "@%p1 ret;\nbar.sync %r2;",
           "@%p1 ret;\nbar.arrive 0, 64;",
           "@%p1 ret;\n@%p2 bar.sync 0;",
           "@%p1 ret;\n@%p2 bra L;\nbar.sync 0;\nL:",
           // Some end ahead of others that meet.
           "@%p1 ret;\n@%p2 ret;\nbar.sync 0;",
           "@%p1 ret;\n@%p2 ret;\nshfl.sync.down.b32 %r9, %r3, 1, 31, -2;\n",
       }) {
    EXPECT_NE(Found(code).plan.refused.text, "") << code;
  }
}

// Thresholds part one group; what is odd parts all.
TEST(BlockUniform, BlocksThatPartInEveryGroup) {
  const auto why = [](const std::string& guard) {
    const Found found(guard + "\n@%p3 ret;\nbar.sync 0;");
    EXPECT_EQ(found.plan.refused.text, "") << guard;
    return passes::why_every_group_parts(found.emulated.kernel, found.plan.replica_divergence).text;
  };
  for (const char* guard :
       {"setp.ge.u32 %p3, %r4, %r2;", "setp.eq.u32 %p3, %r4, 0;",
        "shl.b32 %r10, %r4, 6;\nadd.s32 %r10, %r10, 64;\nsetp.gt.s32 %p3, %r10, %r2;",
        "and.b32 %r10, %r2, 1;\nsetp.eq.u32 %p3, %r10, %r4;",
        "setp.lt.u32 %p5, %r4, 4;\nsetp.ge.u32 %p6, %r4, %r2;\nor.pred %p3, %p5, %p6;"})
    EXPECT_EQ(why(guard), "") << guard;
  for (const char* guard :
       {"and.b32 %r10, %r4, 1;\nsetp.eq.u32 %p3, %r10, 0;",
        "rem.u32 %r10, %r4, 5;\nsetp.eq.u32 %p3, %r10, 0;",
        "xor.b32 %r10, %r4, %r2;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p3, %r10, 7;",
        "setp.lt.u32 %p5, %r4, 4;\nand.b32 %r10, %r4, 1;\nsetp.eq.and.u32 %p3, %r10, 0, %p5;"})
    EXPECT_THAT(why(guard), HasSubstr("in most groups")) << guard;
}

TEST(BlockUniform, ThreadsMayMeet) {
  for (const char* code :
       {"bar.sync 0;", "bar.arrive 0, 64;", "bar.sync 0, 64;", "bar.sync %r3;", "@%p2 bar.sync 0;",
        "bar.red.popc.u32 %r9, 0, %p1;", "bar.red.and.pred %p3, 1, 64, %p2;", "barrier.sync 3;",
        "barrier.cta.sync.aligned 0;", "bar.warp.sync -1;", "@%p2 ret;\nbar.sync 0;",
        "shfl.sync.bfly.b32 %r9, %r4, 1, 31, -1;", "vote.sync.any.pred %p3, %p1, -1;",
        "bar.sync 0;\n@%p2 bra.uni L;\nL:",
        "@%p1 bra L;\nshfl.sync.bfly.b32 %r9, %r3, 1, 31, -1;\nL:\nbar.sync 0;",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, "
        "%r12, %r13}, {%r14, %r15}, {%f1, %f2, %f3, %f4};",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r6];",
        // And blocks, if they do not wait.
        "red.global.add.u32 [%rd1], %r4;", "atom.global.add.u32 %r9, [%rd1], 1;",
        "atom.relaxed.cta.shared.max.u32 %r9, [s], %r3;", "membar.gl;", "fence.acq_rel.gpu;",
        "ld.volatile.shared.u32 %r9, [s];", "ld.acquire.gpu.global.u32 %r9, [%rd1];",
        "st.release.gpu.global.u32 [%rd1], %r4;", "ld.global.cv.u32 %r9, [%rd1];",
        "atom.global.inc.u32 %r9, [%rd1], 7;\nsetp.ne.u32 %p3, %r9, 7;\n@%p3 bra L;\n"
        "st.global.u32 [%rd1], 0;\nL:\nbar.sync 0;"}) {
    const Found found(code);
    EXPECT_EQ(found.plan.refused.text, "") << code;
    EXPECT_TRUE(found.plan.uniform) << code;
  }
}

TEST(BlockUniform, KernelsOfSeveralFilesHaveNoCopiesOfSharedMemory) {
  const auto refused = [](const std::string& code) {
    std::string text = kernel(code);
    text.replace(text.find(".visible"), 8, ".weak");
    Emulated emulated(text);
    return passes::plan_copies(emulated.kernel, {.factors = {1, 2, 1}}).refused.text;
  };
  const std::string stored = "st.shared.u32 [%r6], %r4;\nbar.sync 0;";
  EXPECT_EQ(Found(stored).plan.refused.text, "");
  EXPECT_THAT(refused(stored), HasSubstr("nvlink would add up the copies"));
  EXPECT_EQ(refused("st.shared.u32 [%r6], %r3;\nbar.sync 0;"), "");
}

TEST(BlockUniform, CallsOfLeaves) {
  constexpr std::size_t last = 9;
  const Found leaf(call("leaf"), last);
  EXPECT_EQ(leaf.plan.refused.text, "");
  ASSERT_EQ(leaf.plan.regions.size(), 1U); // from the store of the argument to the result
  EXPECT_EQ(leaf.plan.regions[0].end - leaf.plan.regions[0].first, 3U);
  EXPECT_NE(leaf.plan.regions[0].opens, ptx::none);
  const struct {
    const char* code;
    const char* reason;
  } cases[] = {
      {"outside", "what another file may define"},  {"weak", "what another file may define"},
      {"inner", "no function of its thread alone"}, {"block", "reads the index of its block"},
      {"meets", "no function of its thread alone"}, {"leaves", "no function of its thread alone"},
      {"polls", "no function of its thread alone"},
  };
  for (const auto& [name, reason] : cases)
    EXPECT_THAT(Found(call(name), last).plan.refused, HasSubstr(reason)) << name;
  const std::string bare = ".param .b32 x1; .param .b32 r1; st.param.b32 [x1], %r3;\n"
                           "call.uni (r1), leaf, (x1);\nld.param.b32 %r9, [r1];";
  EXPECT_THAT(Found(bare, last).plan.refused, HasSubstr("a call beside other code"));
  const std::string guarded = "@%p1 bra L;\n" + call("leaf") + "\nadd.u32 %r9, %r9, 1;\nL:";
  const Found inside(guarded, last);
  EXPECT_EQ(inside.plan.refused.text, "");
  ASSERT_EQ(inside.plan.regions.size(), 1U); // that of the branch has it
  EXPECT_EQ(inside.plan.regions[0].opens, ptx::none);
}

// What it has loaded may be another word in each copy.
TEST(BlockUniform, WhatAFunctionHasLoadedDiffers) {
  const std::string word = "mul.wide.u32 %rd6, %r4, 4;\nadd.s64 %rd6, %rd1, %rd6;\n";
  const std::string there = "\nmul.wide.u32 %rd7, %r9, 4;\nadd.s64 %rd7, %rd1, %rd7;\n"
                            "ld.global.nc.u32 %r9, [%rd7];";
  const test::block::Found found(
      with_functions(kernel(word + test::replaced(call("looks"), "%rd1", "%rd6") + there)),
      {.factors = {1, 2, 1}}, 9);
  EXPECT_EQ(found.plan.refused.text, "");
  EXPECT_THAT(found.sources(), testing::Contains("load load"));
  EXPECT_THAT(found.sources(), testing::Each(testing::AnyOf("load load", "load")));
}

TEST(BlockUniform, LoadsWhereCopiesPartAreTheirOwn) {
  const test::block::Found found(kernel("ld.global.nc.u32 %r8, [%rd1];\n@%p1 bra L;\n"
                                        "ld.global.nc.u32 %r9, [%rd1];\nL:\nbar.sync 0;"));
  EXPECT_EQ(found.plan.regions.size(), 1U);
  EXPECT_THAT(found.sources(), testing::ElementsAre("load", "load load"));
}

// Warps may come to one barrier at several places, so all of its kind stand as often.
TEST(BlockUniform, BarriersThatCombineAreEachCopysOwn) {
  const Found found("@%p2 bra L;\nbar.red.popc.u32 %r9, 0, %p1;\nbra M;\nL:\n"
                    "bar.red.popc.u32 %r9, 0, %p2;\nM:");
  ASSERT_EQ(found.plan.refused.text, "");
  unsigned barriers = 0;
  for (const ptx::Inst& inst : found.emulated.kernel.body.insts) {
    if (inst.op != ptx::Op::bar) continue;
    ++barriers;
    EXPECT_TRUE(found.plan.replica_divergence.is_apart(found.emulated.kernel.body, inst));
  }
  EXPECT_EQ(barriers, 2U);
}

// Whether an index wraps a thread could only ask for itself.
TEST(BlockUniform, NothingRestsOnChecksOfIndices) {
  const std::string rows = "mul.wide.s32 %rd8, %r1, 4;\nadd.s64 %rd9, %rd4, %rd8;\n"
                           "ld.global.nc.u32 %r8, [%rd4];\nld.global.nc.u32 %r9, [%rd9];\n";
  const auto sources = [&](const std::string& barrier) {
    return test::block::find(rows + barrier + "st.global.u32 [%rd5], %r9;\nret;").sources();
  };
  EXPECT_THAT(sources(""), testing::Contains(HasSubstr("?")));
  EXPECT_THAT(sources("bar.sync 0;\n"), Not(testing::Contains(HasSubstr("?"))));
}

// Along the other axis everything would be fine.
TEST(BlockUniform, AnIndexOfHalfAWordIsNotReplaced) {
  const test::block::Found two = test::block::find(
      "mov.u16 %rs1, %ctaid.x;\nst.global.u16 [%rd5], %rs1;\nret;", {.factors = {2, 2, 1}});
  EXPECT_THAT(two.plan.refused.text, HasSubstr("reads %ctaid.x in an unusual width"));
}

TEST(BlockUniform, VariablesOfEachCopy) {
  // Value, address, condition; what is read of one that differs; code in which copies part.
  EXPECT_THAT(Found("st.shared.u32 [%r6], %r4;").own(), ElementsAre("s"));
  EXPECT_THAT(Found("add.u32 %r6, %r6, %r4;\nst.shared.u32 [%r6], %r3;").own(), ElementsAre("s"));
  EXPECT_THAT(Found("@%p1 st.shared.u32 [%r6], %r3;").own(), ElementsAre("s"));
  EXPECT_THAT(Found("st.shared.u32 [%r6], %r4;\nbar.sync 0;\nld.shared.u32 %r9, [%r6+4];\n"
                    "st.shared.u32 [%r7], %r9;")
                  .own(),
              ElementsAre("s", "t"));
  EXPECT_THAT(Found("@%p1 bra L;\nst.shared.u32 [%r6], %r3;\nL:\nbar.sync 0;").own(),
              ElementsAre("s"));
  EXPECT_THAT(Found("selp.u32 %r11, %r6, %r7, %p2;\nst.shared.u32 [%r11], %r4;").own(),
              ElementsAre("s", "t"));
  // What counts, or may be watched, is done by each copy, though all do the same.
  EXPECT_THAT(Found("red.shared.add.u32 [s], 1;").own(), ElementsAre("s"));
  EXPECT_THAT(Found("atom.shared.add.u32 %r9, [%r6], %r3;").own(), ElementsAre("s"));
  EXPECT_THAT(Found("st.volatile.shared.u32 [%r7], %r3;").own(), ElementsAre("t"));
  EXPECT_THAT(Found("ld.volatile.global.u32 %r9, [%rd1];\nst.shared.u32 [%r7], %r9;").own(),
              ElementsAre("t"));
  EXPECT_THAT(Found("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r4};").own(),
              ElementsAre("t"));
  // What all have is loaded for all.
  EXPECT_THAT(Found("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r6];\n"
                    "st.shared.u32 [%r7], %r9;")
                  .own(),
              IsEmpty());
  // A store by name.
  EXPECT_THAT(Found("st.shared.u32 [t+4], %r4;").own(), ElementsAre("t"));
}

TEST(BlockUniform, VariablesForAllCopies) {
  EXPECT_THAT(Found("st.shared.u32 [%r6], %r3;").own(), IsEmpty());
  EXPECT_THAT(Found("@%p2 st.shared.u32 [%r6], %r1;").own(), IsEmpty());
  EXPECT_THAT(Found("ld.global.u32 %r9, [%rd1];\nst.shared.u32 [%r6], %r9;\nbar.sync 0;\n"
                    "ld.shared.u32 %r9, [%r6+4];\nst.shared.u32 [%r7], %r9;")
                  .own(),
              IsEmpty());
  EXPECT_THAT(Found("@%p2 bra L;\nst.shared.u32 [%r6], %r3;\nL:\nbar.sync 0;").own(), IsEmpty());
}

// From the branch to where the copies meet again; a loop as a whole; one in another is part of it.
TEST(BlockUniform, Regions) {
  const auto regions = [](const std::string& body) {
    std::vector<std::pair<unsigned, unsigned>> result;
    const Found found(body + "\nbar.sync 0;");
    EXPECT_EQ(found.plan.refused.text, "") << body;
    for (const passes::Region& region : found.plan.regions)
      result.emplace_back(region.first - 16, region.end - 16);
    return result;
  };
  using Pairs = std::vector<std::pair<unsigned, unsigned>>;
  EXPECT_EQ(regions("@%p1 bra L;\nadd.u32 %r9, %r3, 1;\nL:"), (Pairs{{0, 2}}));
  EXPECT_EQ(regions("@%p1 bra L;\nadd.u32 %r9, %r3, 1;\nbra M;\nL:\nadd.u32 %r9, %r3, 2;\nM:"),
            (Pairs{{0, 4}}));
  EXPECT_EQ(regions("mov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, %r4;\n"
                    "@%p3 bra L;"),
            (Pairs{{1, 4}}));
  EXPECT_EQ(regions("@%p1 bra L;\nsetp.eq.u32 %p3, %r4, 1;\n@%p3 bra M;\nadd.u32 %r9, %r3, 1;\n"
                    "M:\nadd.u32 %r9, %r3, 3;\nL:\nadd.u32 %r10, %r3, 3;\n@%p1 bra N;\n"
                    "mov.u32 %r10, 1;\nN:"),
            (Pairs{{0, 5}, {6, 8}}));
  // Another branch, which does not differ, leads into the middle: it is run by each copy, too.
  EXPECT_EQ(regions("mov.u32 %r9, 0;\n@%p2 bra L;\nadd.u32 %r9, %r9, 5;\n@%p1 bra M;\n"
                    "add.u32 %r9, %r3, 1;\nL:\nadd.u32 %r9, %r9, 2;\nM:"),
            (Pairs{{1, 6}}));
  // One side stands behind the other code, and comes back.
  EXPECT_EQ(regions("@%p1 bra L;\nadd.u32 %r9, %r3, 1;\nM:\nadd.u32 %r9, %r3, 2;\nbra N;\nO:\n"
                    "mov.u32 %r9, 2;\nbra.uni P;\nL:\nbra M;\nN:\nsetp.lt.u32 %p3, %r3, 4;\n"
                    "@%p3 bra O;\nP:"),
            (Pairs{{0, 9}}));
  // Who skips the first comes to the second at its start.
  EXPECT_EQ(regions("mov.u32 %r9, 0;\n@%p1 bra L;\nadd.u32 %r9, %r3, 1;\nL:\n"
                    "add.u32 %r9, %r9, 2;\nsetp.lt.u32 %p3, %r9, %r4;\n@%p3 bra L;"),
            (Pairs{{1, 3}, {3, 6}}));
}

} // namespace
} // namespace ptxasw
