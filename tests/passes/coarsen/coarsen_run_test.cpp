// Coarsened kernels on the interpreter where something is at stake that the suites do not have:
// pointers that overlap, indices that wrap, values kept aside, guards, grids of the host's making.
#include "passes/coarsen/coarsen_case.hpp"

#include "emulator/kernel_text.hpp"
#include "simt/verify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Coarsened;
using test::Factors;
using test::kernel_text;

// %r4 = %ctaid.y; %rd4, %rd6: this row and the next of `in`; %rd5: this row of `out`.
std::string by_row(const std::string& body) {
  return kernel_text(R"(
    mov.u32 %r4, %ctaid.y;
    mad.lo.s32 %r5, %r4, %r1, %r3;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    mul.wide.s32 %rd7, %r1, 4;
    add.s64 %rd6, %rd4, %rd7;
)" + body + "\nret;");
}

simt::VerifyResult compare(const Coarsened& coarsened, std::vector<std::string> arguments) {
  simt::VerifyOptions options{.launches = 8, .schedules = 1, .threads = 1};
  options.grids = {{1, 1, 1}, {1, 8, 1}, {1, 7, 1}, {2, 5, 1}};
  options.blocks = {{16, 1, 1}, {16, 2, 1}};
  options.arguments = std::move(arguments);
  return simt::verify(coarsened.module, coarsened.result, "k", options);
}

struct Case {
  const char* name;
  const char* body;
  unsigned saved; // loads of four copies
};

const Case cases[] = {
    {"InPlace",
     "ld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd4], %f1;\n"
     "ld.global.f32 %f2, [%rd4];\nadd.f32 %f2, %f2, %f2;\nst.global.f32 [%rd4], %f2;",
     0},
    {"StoreBetween",
     "ld.global.f32 %f1, [%rd6];\nst.global.f32 [%rd5], %f1;\n"
     "ld.global.f32 %f2, [%rd4];\nst.global.f32 [%rd5], %f2;",
     0},
    {"ReadOnly",
     "ld.global.nc.f32 %f1, [%rd6];\nst.global.f32 [%rd5], %f1;\n"
     "ld.global.nc.f32 %f2, [%rd4];\nst.global.f32 [%rd5], %f2;",
     3},
    {"KeptAside",
     "ld.global.f32 %f1, [%rd6];\nadd.f32 %f3, %f1, %f1;\n"
     "ld.global.f32 %f1, [%rd4];\nadd.f32 %f3, %f3, %f1;\nst.global.f32 [%rd5], %f3;",
     3},
    {"Overwritten",
     "ld.global.f32 %f1, [%rd6];\nadd.f32 %f3, %f1, %f1;\nmov.f32 %f1, %f3;\n"
     "ld.global.f32 %f2, [%rd4];\nadd.f32 %f3, %f1, %f2;\n"
     "st.global.f32 [%rd5], %f3;",
     3},
    {"OverwrittenBehindTheCoveredLoad",
     "ld.global.f32 %f1, [%rd6];\nsetp.gt.u32 %p1, %r1, 99;\n@%p1 ret;\n"
     "ld.global.f32 %f2, [%rd4];\nadd.f32 %f3, %f1, %f2;\nmov.f32 %f1, 0f3F800000;\n"
     "sub.f32 %f3, %f3, %f1;\nst.global.f32 [%rd5], %f3;",
     3},
    {"LoadedOnceIntoWhatDiffers",
     "ld.global.u32 %r8, [%rd1];\nadd.u32 %r8, %r8, %r4;\nst.global.u32 [%rd5], %r8;", 3},
    {"WrittenTwiceForAllCopies",
     "mov.u32 %r8, 3;\nmul.lo.u32 %r9, %r4, %r8;\nmov.u32 %r8, 5;\n"
     "mad.lo.u32 %r9, %r4, %r8, %r9;\nst.global.u32 [%rd5], %r9;",
     0},
    // One load writes what is the same in all copies and, elsewhere written again, what is not.
    {"WrittenBesideWhatDiffers",
     "mov.u32 %r8, 77;\nadd.u32 %r10, %r8, %r5;\nld.global.v2.u32 {%r8, %r9}, [%rd1];\n"
     "add.u32 %r10, %r8, %r10;\nadd.u32 %r10, %r9, %r10;\nmov.u32 %r9, %r4;\n"
     "add.u32 %r10, %r9, %r10;\nst.global.u32 [%rd5], %r10;",
     3},
    // Only block 2 stores where all load, and only block 2 uses what it loads.
    {"OwnStoreBeforeWhatIsLoadedOnce",
     "setp.eq.u32 %p1, %r4, 2;\nadd.u32 %r8, %r5, 64;\nselp.u32 %r8, 0, %r8, %p1;\n"
     "mul.wide.u32 %rd8, %r8, 4;\nadd.s64 %rd8, %rd2, %rd8;\nst.global.u32 [%rd8], 7;\n"
     "ld.global.u32 %r9, [%rd2];\nselp.u32 %r9, %r9, 0, %p1;\n"
     "st.global.u32 [%rd5+2048], %r9;",
     3},
    {"Guarded",
     "setp.lt.u32 %p1, %r3, 5;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
     "@%p1 ld.global.f32 %f1, [%rd6];\n@%p1 ld.global.f32 %f2, [%rd4];\n"
     "add.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;",
     3},
    {"GuardsThatDiffer",
     "setp.gt.u32 %p1, %r4, 2;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, %f1;\n"
     "@%p1 ld.global.f32 %f1, [%rd6];\n@%p1 ld.global.f32 %f2, [%rd4];\n"
     "add.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;",
     0},
    {"Pairs",
     "shl.b64 %rd8, %rd3, 1;\nadd.s64 %rd8, %rd8, %rd1;\nshl.b64 %rd9, %rd7, 1;\n"
     "add.s64 %rd9, %rd8, %rd9;\nld.global.v2.f32 {%f1, %f2}, [%rd9];\n"
     "sub.f32 %f3, %f1, %f2;\nld.global.v2.f32 {%f2, %f1}, [%rd8];\n"
     "sub.f32 %f4, %f1, %f2;\nadd.f32 %f3, %f3, %f4;\nst.global.f32 [%rd5], %f3;",
     3},
    {"BothWaysOfABranch",
     "setp.lt.u32 %p1, %r4, 4;\n@%p1 bra L;\nld.global.f32 %f1, [%rd4];\n"
     "bra M;\nL:\nld.global.f32 %f1, [%rd6];\nM:\nst.global.f32 [%rd5], %f1;",
     0},
    {"AReturnInTheMiddle",
     "setp.lt.u32 %p1, %r4, 3;\n@!%p1 ret;\nld.global.f32 %f1, [%rd4];\n"
     "setp.gt.f32 %p2, %f1, 0f00000000;\n@%p2 exit;\n"
     "st.global.f32 [%rd5], %f1;",
     0},
    {"AByteOfEach",
     "cvt.s64.s32 %rd8, %r5;\nadd.s64 %rd8, %rd8, %rd1;\n"
     "ld.global.s8 %r8, [%rd8];\nld.global.u8 %r9, [%rd8];\nadd.s32 %r8, %r8, %r9;\n"
     "st.global.u32 [%rd5], %r8;",
     0},
    // Registers of nested blocks: their values cannot be named outside, nor what they hide inside.
    {"ScopesOfInlineAssembly",
     "{ .reg .b16 t; ld.global.nc.u16 t, [%rd6]; cvt.u32.u16 %r8, t; }\n"
     "{ .reg .b16 t; ld.global.nc.u16 t, [%rd4]; cvt.u32.u16 %r9, t; }\n"
     "sub.u32 %r8, %r8, %r9;\nst.global.u32 [%rd5], %r8;",
     3},
    {"ScopesOfTheSameLoadAgain",
     "{ .reg .b16 t; ld.global.nc.u16 t, [%rd1]; cvt.u32.u16 %r8, t; }\n"
     "{ .reg .b16 t; ld.global.nc.u16 t, [%rd1]; cvt.u32.u16 %r9, t; }\n"
     "add.u32 %r8, %r8, %r9;\nadd.u32 %r8, %r8, %r4;\nst.global.u32 [%rd5], %r8;",
     7},
    {"AScopeThatHidesTheSource",
     "ld.global.f32 %f1, [%rd6];\n"
     "{ .reg .f32 %f<3>; mov.f32 %f1, 0f3F800000;\nld.global.f32 %f2, [%rd4];\n"
     "add.f32 %f2, %f2, %f1;\nst.global.f32 [%rd5+4096], %f2; }\nst.global.f32 [%rd5], %f1;",
     3},
    {"AScopeThatHidesAGuard",
     "setp.gt.u32 %p1, %r3, 2;\nld.global.f32 %f1, [%rd6];\n"
     "{ .reg .pred %p1; setp.gt.u32 %p1, %r3, 5;\n@%p1 ld.global.f32 %f2, [%rd4];\n"
     "@%p1 st.global.f32 [%rd5+4096], %f2; }\n@%p1 st.global.f32 [%rd5], %f1;",
     3},
    {"ScopesInALoop",
     "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nL:\n"
     "{ .reg .b32 t; ld.global.nc.u32 t, [%rd6]; add.u32 %r8, %r8, t; }\n"
     "{ .reg .b32 t, u; ld.global.nc.u32 u, [%rd4]; mov.b32 t, u; sub.u32 %r8, %r8, t; }\n"
     "add.s64 %rd6, %rd6, 4;\nadd.s64 %rd4, %rd4, 4;\nadd.u32 %r9, %r9, 1;\n"
     "setp.lt.u32 %p1, %r9, 3;\n@%p1 bra L;\nst.global.u32 [%rd5], %r8;",
     3},
};

TEST(CoarsenRun, Hazards) {
  for (const Case& one : cases) {
    const Coarsened four(by_row(one.body), Factors{1, 4, 1});
    ASSERT_EQ(four.plan.refused.text, "") << one.name;
    EXPECT_EQ(four.report.loads - four.report.loads_left, one.saved) << one.name;
    const auto result = compare(four, {"random:f32:4096:1", "zeros:16384", "16", "8"});
    EXPECT_TRUE(result.ok()) << one.name << "\n" << simt::text_of(result, "k");
  }
}

// Control that runs off the end of the body must not run into the sequential form.
TEST(CoarsenRun, NoReturnAtTheEnd) {
  for (const std::string end : {"", "@%p1 ret;", "@%p1 bra L;\nret;\nL:"}) {
    std::string text = by_row("setp.eq.u32 %p1, %r3, 0;\nld.global.f32 %f1, [%rd4];\n"
                              "add.f32 %f1, %f1, %f1;\nst.global.f32 [%rd4], %f1;\n" +
                              end);
    text.erase(text.rfind("\nret;"), 5);
    const auto result =
        compare(Coarsened(text, Factors{1, 4, 1}), {"random:f32:4096:1", "zeros:16384", "16", "8"});
    EXPECT_TRUE(result.ok()) << end << "\n" << simt::text_of(result, "k");
  }
}

// Each thread adds to a word of its own: whoever does a block's work again is seen.
TEST(CoarsenRun, AlongTwoAxes) {
  const Coarsened eight(kernel_text(R"(
    mov.u32 %r4, %ctaid.y;
    mov.u32 %r5, %ctaid.x;
    mad.lo.s32 %r6, %r4, 4, %r5;
    mad.lo.s32 %r7, %r6, 16, %r3;
    mul.wide.s32 %rd3, %r7, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd1];
    add.f32 %f1, %f1, %f2;
    st.global.f32 [%rd4], %f1;
    ret;)"),
                        Factors{2, 4, 1});
  ASSERT_EQ(eight.plan.refused.text, "");
  simt::VerifyOptions options{.launches = 3, .schedules = 1, .threads = 1};
  options.grids = {{4, 8, 1}, {3, 6, 1}, {1, 9, 1}};
  options.blocks = {{16, 1, 1}};
  options.arguments = {"random:f32:16:1", "zeros:16384", "16", "8"};
  const auto result = simt::verify(eight.module, eight.result, "k", options);
  EXPECT_TRUE(result.ok()) << simt::text_of(result, "k");
}

// In and out overlap, each thread's own words only: no race, and no value may come from elsewhere.
TEST(CoarsenRun, OutIsIn) {
  const Coarsened four(by_row("ld.global.f32 %f1, [%rd4];\nadd.f32 %f1, %f1, %f1;\n"
                              "st.global.f32 [%rd5], %f1;\nld.global.f32 %f2, [%rd4];\n"
                              "add.f32 %f2, %f2, %f1;\nst.global.f32 [%rd5], %f2;"),
                       Factors{1, 4, 1});
  const auto result = compare(four, {"random:f32:4096:1", "same:0", "16", "8"});
  EXPECT_TRUE(result.ok()) << simt::text_of(result, "k");
}

// --- Indices that wrap
// -----------------------------------------------------------------------------

// in[n*y + x + n] and in[n*y + x] with n = 2^30: between rows 1 and 2 the index leaves the 32-bit
// numbers, so copy 1 means in + 2^33 where copy 2 means in - 2^33.
TEST(CoarsenRun, AnIndexThatWraps) {
  const Coarsened four(by_row(R"(ld.global.u32 %r8, [%rd6];
    ld.global.u32 %r9, [%rd4];
    mad.lo.u32 %r10, %r4, 16, %r3;
    mul.wide.u32 %rd8, %r10, 8;
    add.s64 %rd8, %rd8, %rd2;
    st.global.v2.u32 [%rd8], {%r8, %r9};)"),
                       Factors{1, 4, 1});
  ASSERT_EQ(four.plan.refused.text, "");
  EXPECT_EQ(four.report.loads_left, 5U);
  constexpr std::uint64_t in = std::uint64_t{1} << 40, row = std::uint64_t{1} << 32;
  const auto run = [&](const std::shared_ptr<const ptx::Module>& module, simt::Memory& memory) {
    for (std::uint64_t n = 0; n < 7; ++n) {
      memory.place(fmt::format("row{}", n), in + n * row - 4 * row + row * 2,
                   std::vector<std::uint8_t>(64, static_cast<std::uint8_t>(n + 1)));
    }
    const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(4 * 16 * 8));
    const auto program = simt::compile(module, "k");
    const simt::Launch launch{.grid = {1, 4, 1},
                              .block = {16, 1, 1},
                              .arguments = {simt::value(in), simt::value(out),
                                            simt::value(std::uint64_t{1} << 30),
                                            simt::value(std::uint64_t{0})}};
    return simt::run(**program, launch, memory);
  };
  simt::Memory left, right;
  EXPECT_TRUE(run(four.module, left).ok());
  EXPECT_TRUE(run(four.result, right).ok());
  const auto difference = simt::first_difference(left, right);
  EXPECT_FALSE(difference.has_value()) << "at " << difference->offset;
}

// --- A grid that the host divides
// ------------------------------------------------------------------

TEST(CoarsenRun, TheHostDividesTheGrid) {
  for (const bool rows : {false, true}) {
    std::string source = test::golden_ptx(rows ? "jacobi_tile" : "jacobi");
    const Coarsened four(source, {.factors = {1, 4, 1}}, "", {.grid = CoarsenGrid::host});
    ASSERT_EQ(four.plan.axes[1].rows, rows);
    const auto run = [&](const std::shared_ptr<const ptx::Module>& module, unsigned height,
                         simt::Memory& memory) {
      const auto bytes = [](unsigned seed) {
        std::vector<std::uint8_t> data(40 * 40 * 4);
        for (std::size_t n = 0; n < data.size(); ++n)
          data[n] = static_cast<std::uint8_t>(n * seed % 61);
        return data;
      };
      const std::uint64_t in = memory.allocate("in", bytes(7)),
                          out = memory.allocate("out", bytes(0));
      const auto program = simt::compile(module, rows ? "jacobi_tile" : "jacobi");
      const simt::Launch launch{.grid = {2, height, 1},
                                .block = {16, rows ? 2U : 1U, 1},
                                .arguments = {simt::value(in), simt::value(out),
                                              simt::value(std::uint64_t{30}),
                                              simt::value(std::uint64_t{25}), simt::value(0.5F),
                                              simt::value(0.25F), simt::value(0.125F)}};
      return simt::run(**program, launch, memory);
    };
    simt::Memory left, right;
    EXPECT_TRUE(run(four.module, 24, left).ok());
    EXPECT_TRUE(run(four.result, 6, right).ok());
    EXPECT_FALSE(simt::first_difference(left, right).has_value());
  }
}

// --- A grid of any size, handed to the kernel beside the divided one
// ------------------------------------------------------------------

simt::VerifyResult compare_launched(const Coarsened& coarsened, const std::string& name) {
  const auto& [x, y, z] = coarsened.plan.axes;
  simt::VerifyOptions options{.launches = 12, .schedules = 1, .threads = 1};
  options.divide = {x.factor, y.factor, z.factor};
  options.original_grid = true;
  options.grids = {{1, 1, 1}, {4, 4, 1}, {5, 7, 1}, {3, 9, 2}, {9, 1, 3}};
  options.blocks = {{16, 1, 1}, {16, 2, 1}};
  return simt::verify(coarsened.module, coarsened.result, name, options);
}

TEST(CoarsenRun, TheOriginalGridIsAParameter) {
  for (const std::string name : {"jacobi", "jacobi_tile", "vecadd"}) {
    for (const Factors factors : {Factors{1, 4, 1}, Factors{2, 1, 1}, Factors{3, 2, 1}}) {
      const Coarsened launched(test::golden_ptx(name), {.factors = factors}, name,
                               {.grid = CoarsenGrid::launcher});
      ASSERT_EQ(launched.plan.refused.text, "") << name;
      const auto result = compare_launched(launched, name);
      EXPECT_TRUE(result.ok()) << simt::text_of(result, name);
    }
  }
}

TEST(CoarsenRun, TheOriginalGridIsTheOnlyParameter) {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".global .align 4 .b8 out[4096];\n.visible .entry k";
  const std::string body = "{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
                           "mov.u32 %r1, %ctaid.x;\nmov.u64 %rd1, out;\n"
                           "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                           "mov.u32 %r2, %nctaid.x;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";
  for (const char* list : {"", "()", "( // ) none\n /* ) */ )"}) {
    const Coarsened launched(head + list + "\n" + body, {.factors = {4, 1, 1}}, "k",
                             {.grid = CoarsenGrid::launcher});
    ASSERT_EQ(launched.plan.refused.text, "");
    ASSERT_TRUE(launched.result->diagnostics.empty()) << launched.text;
    const auto result = compare_launched(launched, "k");
    EXPECT_TRUE(result.ok()) << launched.text << simt::text_of(result, "k");
  }
}

} // namespace
} // namespace ptxasw
