// The block axis: which kernels may be coarsened, one small kernel for every rule, and which loads
// of which copies are covered by which.
#include "reuse/block.hpp"

#include "emulator/kernel_text.hpp"
#include "reuse/block_rules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::kernel_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Found {
  Emulated emulated;
  reuse::BlockPlan plan;

  explicit Found(std::string text, reuse::BlockOptions options = {.factors = {1, 2, 1}},
                 std::size_t function = 0)
      : emulated(std::move(text), function) {
    sym::Context none; // a kernel that was refused has no terms
    sym::Solver solver(emulated.kernel.context ? *emulated.kernel.context : none,
                       {.paranoid = options.paranoid});
    plan = reuse::find_block_reuse(emulated.kernel, solver, options);
  }
  // One word for each copy of each load: "load", or "L.C": the value of load L in copy C; "?" where
  // it rests on the bound, "'" where the register does not keep it.
  [[nodiscard]] std::vector<std::string> sources() const {
    std::vector<std::string> result;
    for (const reuse::BlockLoad& load : plan.loads) {
      std::string line;
      for (const reuse::CopyLoad& copy : load.copies) {
        line += line.empty() ? "" : " ";
        line += copy.from ? fmt::format("{}.{}", copy.from->load, copy.from->copy) : "load";
        line += copy.bounded ? "?" : "";
        line += copy.needs_copy ? "'" : "";
      }
      result.push_back(line);
    }
    return result;
  }
};

// %r4 = %ctaid.y, %r5 = x + n*%ctaid.y, %rd4 = &in[%r5], %rd5 = &out[%r5], %rd6 = &in[%r5 + n].
constexpr const char* by_row = R"(
    mov.u32 %r4, %ctaid.y;
    mad.lo.s32 %r5, %r4, %r1, %r3;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    add.s32 %r6, %r5, %r1;
    mul.wide.s32 %rd7, %r6, 4;
    add.s64 %rd6, %rd1, %rd7;
)";

Found find(const std::string& body, reuse::BlockOptions options = {.factors = {1, 2, 1}}) {
  return Found(kernel_text(by_row + body), options);
}

std::string why_not(const std::string& body) {
  return find(body + "\nst.global.f32 [%rd5], %f1;\nret;", {.factors = {1, 2, 1}, .meet = false})
      .plan.refused;
}

// --- Rules ---------------------------------------------------------------------------------------

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
      // The copies go different ways.
      {"setp.eq.u32 %p1, %r4, 3;\nst.global.u32 [%rd5+4], %r3;\n@%p1 bra L;\nL:",
       "after memory has been written"},
      {"setp.eq.u32 %p1, %r4, 3;\nst.global.u32 [%rd5+4], %r3;\nbra M;\nM:\n@%p1 bra L;\nL:",
       "after memory has been written"},
      {"mov.u32 %r8, 0;\nL:\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r4;\n@%p1 bra L;",
       "different ways in a loop"},
      {"setp.eq.u32 %p1, %r4, 3;\n@%p1 trap;", "copies may go different ways"},
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
  EXPECT_EQ(Found(text + ".section .debug_str { .b8 0 }\n").plan.refused, "");
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
  EXPECT_EQ(f.plan.refused, "");
  const auto& insts = f.emulated.kernel.body.insts;
  EXPECT_EQ(std::ranges::count_if(insts,
                                  [&](const ptx::Inst& inst) {
                                    return reuse::needs_agreement(f.emulated.kernel,
                                                                  f.plan.variance, inst);
                                  }),
            1);
}

// --- Coverage ------------------------------------------------------------------------------------

TEST(BlockReuse, TheNextCopysRow) {
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd4];\nret;").sources(),
              ElementsAre("load load", "load 0.0"));
  // The rows the other way round: who supplies whom depends on which is run first.
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd6];\nret;").sources(),
              ElementsAre("load 1.0", "load load"));
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd6];\nret;",
                   {.factors = {1, 2, 1}, .order = reuse::CopyOrder::instructions})
                  .sources(),
              ElementsAre("load load", "0.1 load"));
  EXPECT_THAT(
      find("ld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd4];\nret;", {.factors = {1, 4, 1}})
          .sources(),
      ElementsAre("load load load load", "load 0.0 0.1 0.2"));
}

TEST(BlockReuse, WhatIsTheSameInAllCopiesIsLoadedOnce) {
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1];\nret;").sources(),
              ElementsAre("load", "0.0"));
  // The same address in each copy, but a register that differs.
  EXPECT_THAT(find("ld.global.u32 %r8, [%rd1];\nadd.u32 %r8, %r8, %r4;\nret;").sources(),
              ElementsAre("load 0.0'"));
}

// The bytes outside of the mask may be left out.
TEST(BlockReuse, LoadsOfSomeBytesTakeNoPart) {
  const std::string mask = ".pragma \"used_bytes_mask 0x3\";\n",
                    first = "ld.global.u32 %r8, [%rd1];\n", second = "ld.global.u32 %r9, [%rd1];\n";
  EXPECT_THAT(find(first + second + "ret;").sources(), ElementsAre("load", "0.0"));
  EXPECT_THAT(find(mask + first + second + "ret;").sources(), ElementsAre("load", "load"));
  EXPECT_THAT(find(first + mask + ".loc 1 1 1\n" + second + "ret;").sources(),
              ElementsAre("load", "load"));
}

TEST(BlockReuse, OwnStoresEndWhatIsKnown) {
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd6];\nst.global.f32 [%rd5], %f1;\n"
                   "ld.global.f32 %f2, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load load"));
  // Not one that provably hits something else.
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd4+4], %f1;\n"
                   "ld.global.f32 %f2, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "0.0 0.1"));
  for (const char* store : {"st.global.u8 [%rd4+3], %r3;", "st.global.u64 [%rd4+-4], %rd1;"}) {
    EXPECT_THAT(
        find(fmt::format("ld.global.f32 %f1, [%rd4];\n{}\nld.global.f32 %f2, [%rd4];\nret;", store))
            .sources(),
        ElementsAre("load load", "load load"))
        << store;
  }
  // Nor any, where the memory is read-only.
  EXPECT_THAT(find("ld.global.nc.f32 %f1, [%rd6];\nst.global.f32 [%rd5], %f1;\n"
                   "ld.global.nc.f32 %f2, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load 0.0"));
}

TEST(BlockReuse, KindsOfLoadsThatDoNotMix) {
  EXPECT_THAT(find("ld.global.nc.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd4];\nret;").sources(),
              ElementsAre("load load", "load load"));
  for (const char* loads : {
           "ld.global.u16 %r8, [%rd6];\nld.global.s16 %r9, [%rd4];",
           "ld.global.f32 %f1, [%rd6];\nld.global.f64 %fd1, [%rd4];",
           "ld.global.u16 %r8, [%rd6];\nld.global.u32 %r9, [%rd4];",
           "ld.global.u16 %rs1, [%rd6];\nld.global.u16 %r8, [%rd4];",
           "ld.global.f32 %f1, [%rd6];\nld.global.v2.f32 {%f2, %f3}, [%rd4];",
           "ld.global.v2.f32 {%f1, _}, [%rd6];\nld.global.v2.f32 {%f3, _}, [%rd4];",
           "ld.const.f32 %f1, [%rd4];\nld.global.nc.f32 %f2, [%rd4];",
           "ld.global.lu.f32 %f1, [%rd6];\nld.global.lu.f32 %f2, [%rd4];",
       }) {
    EXPECT_THAT(find(fmt::format("{}\nret;", loads)).sources(),
                ElementsAre("load load", "load load"))
        << loads;
  }
}

TEST(BlockReuse, SourcesMustHaveRun) {
  const std::string guard = "setp.eq.u32 %p1, %r4, 3;\n";
  EXPECT_THAT(
      find(guard + "@%p1 ld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd4];\nret;").sources(),
      ElementsAre("load load", "load load"));
  // The guard of copy 0 is not that of copy 1 ...
  EXPECT_THAT(find(guard + "@%p1 ld.global.f32 %f1, [%rd6];\n@%p1 ld.global.f32 %f2, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load load"));
  // ... but one that does not differ is.
  EXPECT_THAT(find("setp.eq.u32 %p1, %r3, 3;\n@%p1 ld.global.f32 %f1, [%rd6];\n"
                   "@%p1 ld.global.f32 %f2, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load 0.0"));
  // On another path.
  EXPECT_THAT(find("setp.eq.u32 %p1, %r3, 3;\n@%p1 bra L;\nld.global.f32 %f1, [%rd6];\nL:\n"
                   "ld.global.f32 %f2, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load load"));
}

TEST(BlockReuse, RegistersThatAreWrittenAgain) {
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd6];\nmov.f32 %f1, %f2;\n"
                   "ld.global.f32 %f3, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load 0.0'"));
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd6];\nbra L;\nL:\nmov.f32 %f1, %f2;\nbra M;\nM:\n"
                   "ld.global.f32 %f3, [%rd4];\nret;")
                  .sources(),
              ElementsAre("load load", "load 0.0'"));
  // By the covered load itself, for the copy before.
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd6];\nld.global.f32 %f1, [%rd4];\nret;").sources(),
              ElementsAre("load load", "load 0.0'"));
}

TEST(BlockReuse, LoopsTheSameTripOnly) {
  EXPECT_THAT(find(R"(mov.u32 %r8, 0;
L:
    ld.global.f32 %f1, [%rd6];
    ld.global.f32 %f2, [%rd4];
    add.s64 %rd6, %rd6, 4;
    add.s64 %rd4, %rd4, 4;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p1, %r8, %r2;
    @%p1 bra L;
    ld.global.f32 %f3, [%rd4];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load 0.0", "load load"));
  // Not behind the loop, even where the address has not moved.
  EXPECT_THAT(find(R"(mov.u32 %r8, 0;
L:
    ld.global.f32 %f1, [%rd6];
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p1, %r8, %r2;
    @%p1 bra L;
    ld.global.f32 %f3, [%rd4];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load load"));
}

// An index that is data: copies hold it independently, a copy itself does not forget it.
TEST(BlockReuse, AddressesFromMemory) {
  EXPECT_THAT(find(R"(ld.global.u32 %r8, [%rd4];
    mul.wide.u32 %rd8, %r8, 4;
    add.s64 %rd8, %rd8, %rd2;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd8];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load load", "1.0 1.1"));
}

// So is one that depends on the path.
TEST(BlockReuse, AddressesThatDependOnThePath) {
  EXPECT_THAT(find(R"(setp.eq.u32 %p1, %r3, 0;
    mov.u32 %r15, %r4;
    @%p1 bra A;
    setp.eq.u32 %p1, %r3, 1;
    @%p1 bra B;
    bra C;
A:
    add.u32 %r15, %r4, 7;
    bra C;
B:
    add.u32 %r15, %r4, 8;
C:
    mul.wide.u32 %rd8, %r15, 4;
    add.s64 %rd8, %rd8, %rd2;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd8];
    ret;)")
                  .sources(),
              ElementsAre("load load", "0.0 0.1"));
}

// --- Indices -------------------------------------------------------------------------------------

// %rd8 = &in[%r5] + n: inside the widening in one load, outside in the other.
constexpr const char* pitch_outside = R"(
    mul.wide.s32 %rd9, %r1, 4;
    add.s64 %rd8, %rd4, %rd9;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd4];
)";

std::string bound_of(const Found& f) {
  return f.plan.bound.text(*f.emulated.kernel.context);
}

TEST(BlockBound, IndicesThatMayWrapAreBounded) {
  const Found f = find(std::string(pitch_outside) + "ret;");
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0?"));
  EXPECT_EQ(bound_of(f), "n + n*%ctaid.y + %tid.x < 2^31");
}

// The bound is about values that are known on entry, those of copy 0: not where a base that each
// copy has loaded for itself keeps the address from being carried over.
TEST(BlockBound, NotForAddressesThatOneCopyHolds) {
  EXPECT_THAT(find(R"(
    mul.wide.u32 %rd8, %r4, 8;
    add.s64 %rd8, %rd8, %rd2;
    ld.global.u64 %rd8, [%rd8];
    mul.wide.s32 %rd9, %r6, 4;
    add.s64 %rd10, %rd8, %rd9;
    ld.global.f32 %f1, [%rd10];
    mul.wide.s32 %rd11, %r1, 4;
    add.s64 %rd12, %rd8, %rd3;
    add.s64 %rd12, %rd12, %rd11;
    ld.global.f32 %f2, [%rd12];
    ld.global.f32 %f3, [%rd10];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load load", "load load", "1.0 1.1"));
}

// An unsigned index may be below zero before it is widened: no sum of magnitudes tells.
TEST(BlockBound, UnsignedIndicesMustNotBeNegative) {
  const auto rows = [](const char* constant) {
    return fmt::format(R"(
    add.s32 %r8, %r5, {};
    mul.wide.u32 %rd8, %r8, 4;
    add.s64 %rd8, %rd8, %rd1;
    mul.wide.u32 %rd9, %r1, 4;
    add.s64 %rd9, %rd8, %rd9;
    ld.global.f32 %f1, [%rd9];
    ld.global.f32 %f2, [%rd8];
    ret;)",
                       constant);
  };
  EXPECT_THAT(find(rows("3")).sources(), ElementsAre("load load", "load 0.0?"));
  EXPECT_THAT(find(rows("-3")).sources(), ElementsAre("load load", "load load"));
}

// The largest index counts, whichever of the two loads it is in.
TEST(BlockBound, BothLoadsAreBounded) {
  const std::string inside = "ld.global.f32 %f1, [%rd6];\n";
  const std::string outside = "add.s32 %r8, %r5, 100;\nmul.wide.s32 %rd8, %r8, 4;\n"
                              "mul.wide.s32 %rd9, %r1, 4;\nadd.s64 %rd8, %rd8, %rd9;\n"
                              "add.s64 %rd8, %rd8, %rd1;\nld.global.f32 %f2, [%rd8+-400];\n";
  for (const std::string& loads : {inside + outside, outside + inside}) {
    const Found f = find(loads + "ret;");
    EXPECT_THAT(f.sources(), ElementsAre("load load", "0.0? 0.1?"));
    EXPECT_EQ(bound_of(f), "100 + 2*n + n*%ctaid.y + %tid.x < 2^31");
  }
}

TEST(BlockBound, NotIn16Bits) {
  EXPECT_THAT(find(R"(cvt.u16.u32 %rs1, %r5;
    add.s16 %rs2, %rs1, 3;
    cvt.s64.s16 %rd8, %rs1;
    cvt.s64.s16 %rd9, %rs2;
    add.s64 %rd8, %rd8, %rd1;
    add.s64 %rd9, %rd9, %rd1;
    ld.global.u8 %r8, [%rd9];
    ld.global.u8 %r9, [%rd8+3];
    ret;)")
                  .sources(),
              ElementsAre("load load", "load load"));
}

TEST(BlockBound, NothingToBoundIn64Bits) {
  const Found f = find(R"(
    cvt.u64.u32 %rd8, %r4;
    mul.wide.u32 %rd9, %r1, 4;
    mad.lo.s64 %rd8, %rd8, %rd9, %rd1;
    add.s64 %rd9, %rd8, %rd9;
    ld.global.f32 %f1, [%rd9];
    ld.global.f32 %f2, [%rd8];
    ret;)");
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0"));
  EXPECT_EQ(bound_of(f), "");
}

TEST(BlockBound, Paranoid) {
  const Found f =
      find(std::string(pitch_outside) + "ret;", {.factors = {1, 2, 1}, .paranoid = true});
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0?"));
}

// A loop over %r8 whose index it is in.
Found find_in_loop(const char* start, const char* next) {
  return find(fmt::format(R"(mov.u32 %r8, {};
L:
    add.s32 %r9, %r5, %r8;
    mul.wide.s32 %rd8, %r9, 4;
    add.s64 %rd8, %rd8, %rd1;
    mul.wide.s32 %rd9, %r1, 4;
    add.s64 %rd9, %rd8, %rd9;
    ld.global.f32 %f1, [%rd9];
    ld.global.f32 %f2, [%rd8];
    {}
    @%p1 bra L;
M:
    ret;)",
                          start, next));
}

TEST(BlockBound, TripsAreBoundedByWhatEndsTheLoop) {
  const struct {
    const char *start, *next, *bound;
  } cases[] = {
      {"0", "add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
      {"0", "add.s32 %r8, %r8, 1;\nsetp.le.s32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
      {"0", "add.s32 %r8, %r8, 4;\nsetp.lt.s32 %p1, %r8, %r2;",
       "8 + n + n*%ctaid.y + 4*m + %tid.x < 2^31"},
      {"0", "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
      {"%r2", "add.s32 %r8, %r8, -1;\nsetp.gt.s32 %p1, %r8, 3;",
       "6 + n + n*%ctaid.y + 2*m + %tid.x < 2^31"},
      // It may also end earlier.
      {"0",
       "ld.global.u32 %r10, [%rd1];\nsetp.eq.s32 %p2, %r10, 0;\n@%p2 bra M;\n"
       "add.s32 %r8, %r8, 1;\nsetp.lt.s32 %p1, %r8, %r2;",
       "2 + n + n*%ctaid.y + m + %tid.x < 2^31"},
  };
  for (const auto& one : cases) {
    const Found f = find_in_loop(one.start, one.next);
    EXPECT_EQ(bound_of(f), one.bound) << one.next;
    EXPECT_EQ(f.sources()[1], "load 0.0?") << one.next;
  }
}

TEST(BlockBound, TripsThatNothingBounds) {
  const struct {
    const char *start, *next;
  } cases[] = {
      // Up to whatever is in memory; past the end, if the step does not hit it.
      {"0", "add.s32 %r8, %r8, 1;\nld.global.u32 %r10, [%rd1];\nsetp.lt.s32 %p1, %r8, %r10;"},
      {"0", "add.s32 %r8, %r8, 3;\nsetp.ne.s32 %p1, %r8, %r2;"},
      // Unsigned numbers that begin or end near the wrap.
      {"-5", "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r2;"},
      {"%r2", "add.s32 %r8, %r8, -2;\nsetp.gt.u32 %p1, %r8, 0;"},
      {"%r2", "setp.gt.u32 %p1, %r8, 1;\nadd.s32 %r8, %r8, -3;"},
      // An end that moves along, and one that is behind.
      {"0", "add.s32 %r8, %r8, 1;\nadd.s32 %r10, %r8, %r2;\nsetp.lt.s32 %p1, %r8, %r10;"},
      {"0", "add.s32 %r8, %r8, -1;\nsetp.lt.s32 %p1, %r8, %r2;"},
      {"0", "add.s32 %r8, %r8, 1;\nsetp.gt.s32 %p1, %r8, %r2;"},
      // An exit that not every trip passes.
      {"0", "add.s32 %r8, %r8, 1;\nld.global.u32 %r10, [%rd1];\nsetp.eq.s32 %p1, %r10, 0;\n"
            "@%p1 bra N;\nsetp.ge.s32 %p2, %r8, %r2;\n@%p2 bra M;\nN:\n"
            "setp.ne.s32 %p1, %r10, 9;"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(find_in_loop(one.start, one.next).sources()[1], "load load") << one.next;
}

// --- Rows ----------------------------------------------------------------------------------------

std::string row_kernel(const std::string& how) {
  return kernel_text(R"(
    mov.u32 %r11, %ctaid.y;
    mov.u32 %r12, %ntid.y;
    mov.u32 %r13, %tid.y;
)" + how + R"(
    mad.lo.s32 %r5, %r4, %r1, %r3;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s32 %r6, %r5, %r1;
    mul.wide.s32 %rd7, %r6, 4;
    add.s64 %rd6, %rd1, %rd7;
    ld.global.f32 %f1, [%rd6];
    ld.global.f32 %f2, [%rd4];
    ret;)");
}

TEST(BlockRows, ATidThatIsOnlyPartOfTheRow) {
  const Found f(row_kernel("mad.lo.s32 %r4, %r11, %r12, %r13;"));
  EXPECT_TRUE(f.plan.axes[1].rows);
  EXPECT_THAT(f.sources(), ElementsAre("load load", "load 0.0"));
  // Put together in another order.
  EXPECT_TRUE(Found(row_kernel("mul.lo.s32 %r14, %r11, %r12;\nadd.s32 %r15, %r13, 4;\n"
                               "add.s32 %r4, %r14, %r15;"))
                  .plan.axes[1]
                  .rows);
}

TEST(BlockRows, NotWhereTheTidIsSeenByItself) {
  const std::string sum = "mad.lo.s32 %r4, %r11, %r12, %r13;\n";
  for (const char* use :
       {"st.global.u32 [%rd2], %r13;", "st.global.u32 [%rd2], %r11;", "cvt.rn.f32.u32 %f9, %r13;",
        "and.b32 %r15, %r13, 3;\nst.global.u32 [%rd2], %r15;", "mov.u32 %r15, %laneid;",
        "setp.eq.u32 %p1, %r13, 0;\n@%p1 ret;", "mul.wide.u32 %rd9, %r13, 4;",
        "mov.u32 %r15, %tid.y;\nst.global.u32 [%rd2], %r15;",
        "mov.u32 %r14, 0;\nL:\nmov.u32 %r15, %r13;\nand.b32 %r16, %r15, 3;\n"
        "add.u32 %r14, %r14, 1;\nsetp.lt.u32 %p1, %r14, %r1;\n@%p1 bra L;\n"
        "st.global.u32 [%rd2], %r16;",
        // Exact for the %tid of a thread, not for a row of the group.
        "min.u32 %r15, %r13, 2000;\nsub.u32 %r16, %r15, %r13;\nmul.wide.u32 %rd8, %r16, 4;\n"
        "add.s64 %rd8, %rd8, %rd1;\nld.global.f32 %f3, [%rd8];",
        "mul.hi.u32 %r15, %r13, 4194304;\nmul.wide.u32 %rd8, %r15, 4;\n"
        "add.s64 %rd8, %rd8, %rd1;\nld.global.f32 %f3, [%rd8];",
        "add.sat.s32 %r15, %r13, 2147482624;\nsub.u32 %r16, %r15, %r13;\n"
        "mul.wide.u32 %rd8, %r16, 4;\nadd.s64 %rd8, %rd8, %rd1;\nld.global.f32 %f3, [%rd8];",
        // Hidden where more than two paths meet.
        "mov.u32 %r15, %r13;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra A;\nsetp.eq.u32 %p1, %r3, 1;\n"
        "@%p1 bra B;\nbra C;\nA:\nmov.u32 %r15, 7;\nbra C;\nB:\nmov.u32 %r15, 8;\nC:\n"
        "add.s32 %r16, %r15, 1;\nmul.wide.s32 %rd8, %r16, 4;\nadd.s64 %rd8, %rd8, %rd1;\n"
        "ld.global.f32 %f3, [%rd8];"}) {
    EXPECT_FALSE(Found(row_kernel(sum + use)).plan.axes[1].rows) << use;
  }
  EXPECT_FALSE(Found(row_kernel("mad.lo.s32 %r4, %r11, 2, %r13;")).plan.axes[1].rows);
  EXPECT_FALSE(Found(row_kernel(sum), {.factors = {1, 2, 1}, .rows = false}).plan.axes[1].rows);
  // Only some paths add the rows of the blocks before.
  EXPECT_FALSE(Found(row_kernel("setp.eq.u32 %p1, %r3, 0;\nmov.u32 %r4, %r13;\n@%p1 bra L;\n"
                                "mad.lo.s32 %r4, %r11, %r12, %r4;\nL:"))
                   .plan.axes[1]
                   .rows);
}

} // namespace
} // namespace ptxasw
