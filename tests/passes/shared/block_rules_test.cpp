// Which kernels may be coarsened: one small kernel for every rule.
#include "passes/coarsen/block_found.hpp"
#include "passes/shared/block_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ptxasw {
namespace {

using test::kernel_text;
using test::block::by_row;
using test::block::find;
using test::block::Found;
using ::testing::HasSubstr;

std::string why_not(const std::string& body) {
  return find(body + "\nst.global.f32 [%rd5], %f1;\nret;", {.factors = {1, 2, 1}, .meet = false})
      .plan.refused;
}

TEST(BlockRules, AnOrdinaryKernelPasses) {
  EXPECT_EQ(why_not("ld.global.f32 %f1, [%rd4];"), "");
  EXPECT_EQ(why_not("mov.u32 %r8, %laneid;\nmov.u32 %r9, %nctaid.y;\nprefetch.global.L2 [%rd4];"),
            "");
}

TEST(BlockRules, EachHasItsReason) {
  const struct {
    const char* code;
    const char* reason;
  } cases[] = {
      // Blocks could wait for each other, or see how far another one is.
      {"atom.global.add.u32 %r8, [%rd4], 1;", "blocks can observe each other"},
      {"red.global.add.u32 [%rd4], 1;", "blocks can observe each other"},
      {"membar.gl;", "orders memory"},
      {"fence.acq_rel.gpu;", "orders memory"},
      {"griddepcontrol.wait;", "orders memory"},
      {"ld.volatile.global.f32 %f1, [%rd4];", "volatile or ordered"},
      {"ld.relaxed.gpu.global.f32 %f1, [%rd4];", "volatile or ordered"},
      {"ld.acquire.gpu.global.f32 %f1, [%rd4];", "volatile or ordered"},
      {"ld.global.cv.f32 %f1, [%rd4];", "volatile or ordered"},
      {"st.volatile.global.f32 [%rd4], %f1;", "volatile or ordered"},
      {"st.release.gpu.global.f32 [%rd4], %f1;", "volatile or ordered"},
      {"mov.u32 %r8, %clock;", "reads %clock"},
      {"mov.u64 %rd8, %globaltimer;", "reads %globaltimer"},
      {"mov.u32 %r8, %smid;", "reads %smid"},
      {"mov.u32 %r8, %warpid;", "reads %warpid"},
      {"mov.u32 %r8, %cluster_ctarank;", "reads %cluster_ctarank"},
      // The copies would share what each block has of its own.
      {"bar.sync 0;", "waits for other threads"},
      {".shared .b32 s[32];", "declares shared memory"},
      {".local .b32 l[2];", "declares local memory"},
      {"ld.shared.f32 %f1, [%r3];", "shared memory"},
      {"st.local.f32 [%r3], %f1;", "local memory"},
      {"cvta.shared.u64 %rd8, %rd7;", "makes an address of the block's shared memory"},
      {"cvta.shared.u64 %rd8, 0;", "makes an address of the block's shared memory"},
      {"cvta.local.u64 %rd8, %rd7;", "local memory"},
      // They depend on which lanes are together.
      {"shfl.sync.bfly.b32 %r8, %r3, 1, 31, -1;", "which lanes run together"},
      {"activemask.b32 %r8;", "which lanes run together"},
      {"vote.sync.any.pred %p1, %p2, -1;", "which lanes run together"},
      {"setp.eq.u32 %p1, %r4, 3;\n@%p1 bra.uni L;\nL:", "lanes of a warp agree"},
      // It waits for what another block stores, whatever decides on the way out.
      {"L:\nld.global.cg.u32 %r8, [%rd1];\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra L;",
       "may wait for what another thread stores"},
      {"L:\nld.cg.u32 %r8, [%rd1];\nadd.u32 %r9, %r8, 1;\nsetp.eq.u32 %p1, %r9, 1;\n"
       "@%p1 mov.u32 %r10, 1;\nmov.u32 %r11, %r10;\nsetp.ne.u32 %p2, %r11, 0;\n@!%p2 bra L;",
       "may wait for what another thread stores"},
      {"L:\nld.global.cg.u32 %r8, [%rd1];\nst.global.u32 [%rd2], %r8;\n"
       "ld.global.u32 %r9, [%rd2];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
       "may wait for what another thread stores"},
      {"L:\nld.global.cg.u32 %r8, [%rd1];\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 bra M;\nbra L;\nM:",
       "may wait for what another thread stores"},
      {"L:\nld.global.cg.u32 %r8, [%rd1];\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 ret;\nbra L;",
       "may wait for what another thread stores"},
      // %ctaid in a place that takes no register of 32 bits.
      {"mov.u16 %rs1, %ctaid.y;", "reads %ctaid.y in an unusual width"},
      {"mov.u32 %r8, %ctaid .y;", "names %ctaid in an unusual way"},
      // Destroys or does what we know too little of.
      {"discard.global.L2 [%rd4], 128;", "destroys memory"},
      {"suld.b.1d.b32.trap {%r8}, [%rd8, {%r3}];", "reads a surface"},
      {"cp.async.ca.shared.global [%r3], [%rd4], 4;", "not handled"},
      {"brkpt;", "not handled"},
      {"mov.b32 %r8, %r9.b0;", "without semantics"},
      // One carry flag for all copies.
      {"add.cc.u32 %r8, %r4, %r4;\naddc.u32 %r9, %r8, 0;", "carry"},
      // The replicas diverge.
      {"setp.eq.u32 %p1, %r4, 3;\nst.global.u32 [%rd5+4], %r3;\n@%p1 bra L;\nL:",
       "after memory has been written"},
      {"setp.eq.u32 %p1, %r4, 3;\nst.global.u32 [%rd5+4], %r3;\nbra M;\nM:\n@%p1 bra L;\nL:",
       "after memory has been written"},
      {"mov.u32 %r8, 0;\nL:\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r4;\n@%p1 bra L;",
       "replicas may diverge in a loop"},
      {"setp.eq.u32 %p1, %r4, 3;\n@%p1 trap;", "replicas may diverge"},
  };
  for (const auto& [code, reason] : cases)
    EXPECT_THAT(why_not(code), HasSubstr(reason)) << code;
  EXPECT_EQ(why_not("bra.uni L;\nL:"), "");
  // Nothing is waited for.
  for (const char* loop : {"L:\nld.global.cg.u32 %r8, [%rd1];\nadd.u32 %r9, %r9, 1;\n"
                           "setp.lt.u32 %p1, %r9, 9;\n@%p1 bra L;",
                           "ld.global.cg.u32 %r8, [%rd1];\nL:\nadd.u32 %r9, %r9, 1;\n"
                           "setp.lt.u32 %p1, %r9, %r8;\n@%p1 bra L;",
                           "L:\nld.global.u32 %r8, [%rd1];\nsetp.eq.u32 %p1, %r8, 0;\n"
                           "@%p1 bra L;"})
    EXPECT_EQ(why_not(loop), "") << loop;
}

TEST(BlockRules, CallsAndClusters) {
  const std::string body = std::string(by_row) + "call f;\nret;";
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { ret; }\n" +
                           kernel_text(body).substr(kernel_text(body).find(".visible"));
  EXPECT_THAT(Found(text).plan.refused, HasSubstr("not a kernel"));
  EXPECT_THAT(Found(text, {.factors = {1, 2, 1}}, 1).plan.refused, HasSubstr("a call"));
  // Where each thread decides for itself, too.
  EXPECT_THAT(Found(text, {.factors = {1, 2, 1}, .meet = false}, 1).plan.refused,
              HasSubstr("a call"));
  EXPECT_THAT(
      Found(kernel_text(std::string(by_row) + "ret;", ".reqnctapercluster 2, 1, 1")).plan.refused,
      HasSubstr("clusters"));
}

// A generic address hides that it points to what each block has of its own.
TEST(BlockRules, SharedMemoryOfTheModule) {
  std::string text = kernel_text(std::string(by_row) + "mov.u64 %rd8, tile;\n"
                                                       "cvta.shared.u64 %rd8, %rd8;\n"
                                                       "st.u32 [%rd8], %r4;\nret;");
  text.insert(text.find(".visible"), ".extern .shared .align 4 .b8 tile[];\n");
  EXPECT_THAT(Found(text, {.factors = {1, 2, 1}, .meet = false}).plan.refused,
              HasSubstr("uses tile, in shared memory"));
  EXPECT_THAT(Found(text).plan.refused, HasSubstr("the host says how large tile is"));
}

TEST(BlockRules, DebugInformationNamesLabels) {
  const std::string text = kernel_text(std::string(by_row) + "ret;");
  EXPECT_THAT(Found(text + ".section .debug_info { .b32 0 }\n").plan.refused,
              HasSubstr("debug information"));
  EXPECT_EQ(Found(text + ".section .debug_str { .b8 0 }\n").plan.refused.text, "");
}

TEST(BlockRules, LoopsWithTwoEntries) {
  EXPECT_THAT(why_not("setp.eq.u32 %p1, %r3, 0;\n@%p1 bra B;\nA:\nadd.u32 %r8, %r3, 1;\nB:\n"
                      "setp.lt.u32 %p2, %r8, %r1;\n@%p2 bra A;"),
              HasSubstr("irreducible"));
}

TEST(BlockRules, AxesThatAreNotThere) {
  EXPECT_THAT(find("ret;", {.factors = {2, 1, 1}}).plan.refused, HasSubstr("%ctaid.x"));
  EXPECT_THAT(find("ret;", {}).plan.refused, HasSubstr("no axis"));
  EXPECT_THAT(find("ret;", {.factors = {1, 65, 1}}).plan.refused, HasSubstr("too many"));
}

// A branch before anything is written may go different ways: the copies compare.
TEST(BlockRules, EarlyExitsAreAgreedOn) {
  const Found f = find("setp.ge.u32 %p1, %r4, %r2;\n@%p1 ret;\nst.global.u32 [%rd5], %r3;\nret;");
  EXPECT_EQ(f.plan.refused.text, "");
  const auto& insts = f.emulated.kernel.body.insts;
  EXPECT_EQ(std::ranges::count_if(insts,
                                  [&](const ptx::Inst& inst) {
                                    return passes::needs_agreement(f.emulated.kernel,
                                                                   f.plan.replica_divergence, inst);
                                  }),
            1);
}

// A way that hangs on what was loaded: sound, and as a rule the copies part.
TEST(BlockRules, DataPartsCopies) {
  const auto why = [](const std::string& body) {
    const Found f = find(body);
    EXPECT_EQ(f.plan.refused.text, "");
    const analysis::ReplicaDivergence data = analysis::is_data_dependent(f.emulated.kernel.body);
    return passes::why_data_diverges_replicas(f.emulated.kernel, f.plan.replica_divergence, data)
        .text;
  };
  const std::string store = "@%p1 ret;\nst.global.u32 [%rd5], %r3;\nret;";
  EXPECT_EQ(why("setp.ge.u32 %p1, %r4, %r2;\n" + store), "");
  EXPECT_EQ(why("ld.global.u32 %r8, [%rd4];\nsetp.ge.u32 %p1, %r5, %r2;\n" + store), "");
  EXPECT_THAT(why("ld.global.u32 %r8, [%rd4];\nadd.u32 %r9, %r8, 1;\n"
                  "setp.ge.u32 %p1, %r9, %r2;\n" +
                  store),
              HasSubstr("over what they have loaded"));
  // The same for all copies: nobody parts.
  EXPECT_EQ(why("ld.global.u32 %r8, [%rd1];\nsetp.ge.u32 %p1, %r8, %r2;\n" + store), "");
}

} // namespace
} // namespace ptxasw
