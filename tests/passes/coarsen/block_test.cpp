// The block axis: which loads of which copies are covered by which.
#include "passes/coarsen/block_found.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::kernel_text;
using test::block::find;
using test::block::Found;
using ::testing::ElementsAre;

TEST(BlockReuse, TheNextCopysRow) {
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd4];\nret;").sources(),
              ElementsAre("load load", "load 0.0"));
  // The rows the other way round: who supplies whom depends on which is run first.
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd6];\nret;").sources(),
              ElementsAre("load 1.0", "load load"));
  EXPECT_THAT(find("ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd6];\nret;",
                   {.factors = {1, 2, 1}, .order = passes::CopyOrder::instructions})
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
