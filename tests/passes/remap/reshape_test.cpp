// Kernels in blocks of another shape: every thread's work is done once and by its own numbers, on
// launches of all sizes, and kernels whose threads meet are left alone.
#include "passes/remap/reshape.hpp"
#include "passes/shared/applied.hpp"
#include "passes/shared/case.hpp"

#include "contract/reshape.hpp"
#include "emulator/kernel_text.hpp"
#include "simt/verify.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

namespace ptxasw {
namespace {

using contract::Variant;
using test::kernel_text;
using ::testing::HasSubstr;

struct Reshaped {
  std::shared_ptr<const ptx::Module> module, result;
  emulator::Kernel kernel;
  passes::ReshapePlan plan;
  std::string text;

  explicit Reshaped(std::string source, const std::string& name = "")
      : module(test::parsed(std::move(source))), kernel(test::emulate(*module, name)),
        plan(passes::plan_reshape(kernel)) {
    text = test::applied(kernel, passes::reshape(kernel, plan));
    result = test::parsed(text);
  }
};

using Size = std::array<unsigned, 3>;

Variant in_blocks(Size block) {
  return {.kind = contract::Kind::reshaped, .rest = contract::Rest::reshaped, .block = block};
}

simt::Dim3 dim(const Size& size) {
  return {size[0], size[1], size[2]};
}

simt::LaunchShape other_shape(const simt::LaunchShape& shape, Size block,
                              simt::Argument& appended) {
  const Size grid{shape.grid.x, shape.grid.y, shape.grid.z},
      threads{shape.block.x, shape.block.y, shape.block.z};
  const auto made = contract::reshape(in_blocks(block), grid, threads);
  if (!made) throw std::runtime_error("no such launch");
  appended.bytes.resize(sizeof made->original);
  std::memcpy(appended.bytes.data(), &made->original, sizeof made->original);
  return {dim(made->grid), dim(made->block)};
}

// --- The arithmetic ------------------------------------------------------------------------------

TEST(Reshape, DividesByEverySizeOfABlock) {
  const Variant variant = in_blocks({1024, 0, 0});
  for (unsigned block = 1; block <= 1024; ++block) {
    const unsigned most = ((1U << 31) - 1) / block; // of the blocks
    const auto made = contract::reshape(variant, {most, 1, 1}, {block, 1, 1});
    ASSERT_TRUE(made) << block;
    const contract::OriginalShape& original = made->original;
    const auto of = [&](std::uint32_t i) { // as the kernel does
      const std::uint32_t high = std::uint64_t{2 * i} * original.multiplier[0] >> 32;
      return high >> original.shift[0];
    };
    for (std::uint64_t n = 0; n <= most; n = n < 2000 ? n + 1 : n + most / 997 + 1)
      for (const std::uint64_t i : {n * block, n * block + block - 1, n * block + block / 2}) {
        if (i >= 1ULL << 31) continue;
        ASSERT_EQ(of(static_cast<std::uint32_t>(i)), i / block) << i << " by " << block;
      }
    ASSERT_EQ(of((1U << 31) - 1), ((1U << 31) - 1) / block);
    ASSERT_EQ(of(most * block - 1), most - 1);
  }
}

TEST(Reshape, LaunchesThatCannotBeMade) {
  const Variant line = in_blocks({256, 0, 0}), plane = in_blocks({32, 8, 0});
  EXPECT_TRUE(contract::reshape(line, {1U << 20, 1, 1}, {1024, 1, 1}));
  EXPECT_FALSE(contract::reshape(line, {1U << 21, 1, 1}, {1024, 1, 1}));
  EXPECT_FALSE(contract::reshape(line, {5, 2, 1}, {64, 1, 1}));
  EXPECT_FALSE(contract::reshape(line, {5, 1, 1}, {64, 1, 2}));
  EXPECT_TRUE(contract::reshape(plane, {1, 65535, 1}, {64, 8, 1}));
  EXPECT_FALSE(contract::reshape(plane, {1, 65535, 1}, {64, 16, 1}));
  EXPECT_FALSE(contract::reshape(plane, {1, 0, 1}, {64, 16, 1}));
  const auto made = contract::reshape(plane, {3, 5, 1}, {17, 3, 1});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->grid, (Size{2, 2, 1}));
  EXPECT_EQ(made->block, (Size{32, 8, 1}));
  EXPECT_EQ(made->original.threads, (Size{51, 15, 1}));
}

// --- Who does whose work -------------------------------------------------------------------------

// Each thread adds what it knows of its place to a word of its own.
std::string all_axes() {
  return kernel_text(R"(
    mov.u32 %r4, %ctaid.z; mov.u32 %r5, %nctaid.y; mov.u32 %r6, %ctaid.y;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    mov.u32 %r5, %nctaid.x; mov.u32 %r6, %ctaid.x;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    mov.u32 %r5, %ntid.z; mov.u32 %r6, %tid.z;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    mov.u32 %r5, %ntid.y; mov.u32 %r6, %tid.y;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;
    mad.lo.u32 %r4, %r4, %r5, %r6;
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd2, %rd3;
    mul.lo.u32 %r4, %r4, 1000;
    mov.u32 %r5, %nctaid.z;
    add.u32 %r4, %r4, %r5;
    ld.global.u32 %r12, [%rd4];
    add.u32 %r12, %r12, %r4;
    st.global.u32 [%rd4], %r12;
    ret;)");
}

TEST(Reshape, EveryThreadOnceByItsOwnNumbers) {
  const Reshaped made(all_axes());
  ASSERT_EQ(made.plan.refused.text, "");
  EXPECT_EQ(made.plan.axes, (std::array{true, true, true}));
  const auto left = simt::compile(made.module, "k"), right = simt::compile(made.result, "k");
  for (const Size grid : {Size{1, 1, 1}, Size{3, 5, 2}, Size{7, 1, 3}, Size{1, 9, 4}})
    for (const Size block : {Size{1, 1, 1}, Size{33, 1, 1}, Size{5, 7, 3}, Size{8, 4, 2}})
      for (const Size other : {Size{32, 1, 1}, Size{128, 1, 1}, Size{32, 8, 1}, Size{1, 2, 64},
                               Size{3, 5, 7}, Size{1024, 1, 1}}) {
        const simt::LaunchShape shape{dim(grid), dim(block)};
        const auto after = [&](const simt::Program& program, bool reshaped) {
          simt::Memory memory;
          const std::uint64_t bytes = 4 * shape.grid.count() * shape.block.count();
          const std::uint64_t out =
              memory.allocate("out", std::vector<std::uint8_t>(bytes, std::uint8_t{1}));
          std::vector<simt::Argument> arguments{simt::value(out), simt::value(out),
                                                simt::value(std::uint64_t{1}),
                                                simt::value(std::uint64_t{1})};
          simt::LaunchShape now = shape;
          if (reshaped) {
            simt::Argument appended;
            now = other_shape(shape, other, appended);
            arguments.push_back(appended);
          }
          const simt::Launch launch{
              .grid = now.grid, .block = now.block, .arguments = std::move(arguments)};
          const simt::Result result = simt::run(program, launch, memory);
          EXPECT_TRUE(result.ok()) << result.message;
          return memory.find("out")->data;
        };
        EXPECT_EQ(after(**right, true), after(**left, false))
            << fmt::format("grid {} block {} as {}", grid[0], block[0], other[0]);
      }
}

// --- The suite -----------------------------------------------------------------------------------

struct ReshapeRow {
  const char *file, *kernel;
  Size block;
};

class ReshapedKernel : public ::testing::TestWithParam<ReshapeRow> {
protected:
  Reshaped made{test::golden_ptx(GetParam().file), GetParam().kernel};
};

TEST_P(ReshapedKernel, ComputesTheSame) {
  ASSERT_EQ(made.plan.refused.text, "");
  EXPECT_TRUE(made.result->diagnostics.empty());
  simt::VerifyOptions options{.launches = 9, .schedules = 1, .threads = 1};
  const bool plane = made.plan.axes[1] || made.plan.axes[2];
  options.grids = plane ? std::vector<simt::Dim3>{{1, 1, 1}, {2, 7, 3}, {5, 4, 1}}
                        : std::vector<simt::Dim3>{{1, 1, 1}, {7, 1, 1}, {20, 1, 1}};
  options.blocks = plane ? std::vector<simt::Dim3>{{32, 1, 1}, {9, 4, 1}, {64, 2, 1}}
                         : std::vector<simt::Dim3>{{32, 1, 1}, {37, 1, 1}, {128, 1, 1}};
  if (!made.plan.axes[2])
    for (simt::Dim3& grid : options.grids)
      grid.z = 1;
  options.other_shape = [](const simt::LaunchShape& shape, simt::Argument& appended) {
    return other_shape(shape, GetParam().block, appended);
  };
  const auto result = simt::verify(made.module, made.result, GetParam().kernel, options);
  EXPECT_TRUE(result.ok()) << simt::text_of(result, GetParam().kernel);
}

TEST_P(ReshapedKernel, IsTakenByPtxas) {
  test::expect_that_ptxas_takes(made.text, fmt::format("reshape_{}", GetParam().kernel));
}

INSTANTIATE_TEST_SUITE_P(Suite, ReshapedKernel,
                         ::testing::Values(ReshapeRow{"jacobi", "jacobi", {32, 8, 0}},
                                           ReshapeRow{"matmul", "matmul", {64, 8, 0}},
                                           ReshapeRow{"gaussblur", "gaussblur", {128, 1, 0}},
                                           ReshapeRow{"laplacian", "laplacian", {32, 4, 4}},
                                           ReshapeRow{"tricubic", "tricubic", {1, 2, 64}},
                                           ReshapeRow{"matvec", "matvec", {256, 0, 0}},
                                           ReshapeRow{"mm_naive", "mm_naive", {1024, 0, 0}},
                                           ReshapeRow{"box9", "box9", {512, 0, 0}},
                                           ReshapeRow{"transposed", "transposed1", {32, 4, 0}}),
                         [](const auto& test) { return std::string(test.param.kernel); });

// All others that may be launched so, in one shape each.
TEST(Reshape, EveryKernelOfTheSuite) {
  unsigned done = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(PTXASW_SOURCE_DIR "/tests/golden/ptx")) {
    if (file.path().extension() != ".ptx") continue;
    const std::string source = test::read_file(file.path());
    const auto module = test::parsed(source);
    for (const ptx::Function& function : module->functions) {
      if (!function.is_entry || function.is_declaration) continue;
      const Reshaped made(source, std::string(function.name));
      if (!made.plan.refused.empty()) continue;
      const auto& axes = made.plan.axes;
      const Size block{axes[2] ? 8U : 64U, axes[1] ? 4U : 0U, axes[2] ? 4U : 0U};
      simt::VerifyOptions options{.launches = 3, .schedules = 1, .threads = 1};
      options.grids = {{3, axes[1] ? 5U : 1U, axes[2] ? 3U : 1U}};
      options.blocks = {{37, axes[1] ? 3U : 1U, 1}};
      options.other_shape = [&](const simt::LaunchShape& shape, simt::Argument& appended) {
        return other_shape(shape, block, appended);
      };
      const auto result = simt::verify(made.module, made.result, function.name, options);
      EXPECT_TRUE(!result.failure && result.error.empty()) << simt::text_of(result, function.name);
      done += result.equal != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(done, 40U);
}

// --- Kernels that are left alone -----------------------------------------------------------------

TEST(Reshape, ThreadsThatMeetStay) {
  const std::pair<const char*, const char*> rows[] = {
      {"mov.u32 %r4, %tid.x; bar.sync 0; ret;", "waits for other threads"},
      {"mov.u32 %r4, %tid.x; mov.u32 %r5, %laneid; st.global.u32 [%rd2], %r5; ret;",
       "reads %laneid"},
      {"mov.u32 %r4, %tid.x; mov.u32 %r5, %nwarpid; st.global.u32 [%rd2], %r5; ret;",
       "reads %nwarpid"},
      {"mov.u32 %r4, %tid.x; red.global.add.u32 [%rd2], %r4; ret;", "observe each other"},
      {"mov.u32 %r4, %tid.x; activemask.b32 %r5; st.global.u32 [%rd2], %r5; ret;",
       "which lanes run together"},
      {"mov.u32 %r4, %tid.x; st.volatile.global.u32 [%rd2], %r4; ret;", "volatile"},
      {"mov.u32 %r4, %tid.x; membar.gl; st.global.u32 [%rd2], %r4; ret;", "orders memory"},
      {"mov.u16 %rs1, %tid.x; cvt.u32.u16 %r4, %rs1; st.global.u32 [%rd2], %r4; ret;",
       "in an unusual width"},
  };
  for (const auto& [body, why] : rows) {
    const Reshaped made(kernel_text(body));
    EXPECT_THAT(made.plan.refused.text, HasSubstr(why)) << body;
    EXPECT_EQ(made.text, *made.module->text);
  }
  EXPECT_THAT(Reshaped(kernel_text("mov.u32 %r4, %tid.x; st.global.u32 [%rd2], %r4; ret;",
                                   ".reqntid 32, 1"))
                  .plan.refused.text,
              HasSubstr("states the size"));
  std::string along_y = kernel_text("st.global.u32 [%rd2], %r3; ret;");
  along_y.replace(along_y.find("%tid.x"), 6, "%tid.y");
  EXPECT_THAT(Reshaped(along_y).plan.refused.text, HasSubstr("where along x"));
}

} // namespace
} // namespace ptxasw
