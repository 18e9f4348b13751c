// The benchmark kernels remapped: they compute the same on grids and blocks of all shapes, and
// ptxas takes them.
#include "passes/remap/remap_case.hpp"

#include "simt/verify.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Remapped;
using ::testing::HasSubstr;

constexpr Remap column{.kind = RemapKind::column, .width = 2},
    zigzag{.kind = RemapKind::zigzag, .width = 3}, swap{.kind = RemapKind::swap},
    linear_column{.kind = RemapKind::linear_column, .width = 4},
    linear_zigzag{.kind = RemapKind::linear_zigzag, .width = 3},
    thread_swap{.kind = RemapKind::thread_swap, .width = 32},
    thread_swap_8{.kind = RemapKind::thread_swap, .width = 8};

struct Row {
  const char* file;
  const char* kernel;
  const Remap& remap;
};

const Row eligible[] = {
    {"divergence", "divergence", column},
    {"gameoflife", "gameoflife", zigzag},
    {"gaussblur", "gaussblur", column},
    {"gradient", "gradient", swap},
    {"jacobi", "jacobi", column},
    {"jacobi", "jacobi", zigzag},
    {"jacobi", "jacobi", swap},
    {"jacobi", "jacobi", thread_swap},
    {"lapgsrb", "lapgsrb", zigzag},
    {"laplacian", "laplacian", column},
    {"laplacian", "laplacian", thread_swap_8},
    {"matmul", "matmul", column},
    {"matmul", "matmul", thread_swap},
    {"sincos", "sincos_xy", swap},
    {"sincos", "sincos_xy", thread_swap},
    {"tricubic", "tricubic", column},
    {"tricubic2", "tricubic2", zigzag},
    {"uxx1", "uxx1", column},
    {"vecadd", "vecadd", swap},
    {"wave13pt", "wave13pt", column},
    {"whispering", "whispering", zigzag},
    {"box9", "box9", linear_column},
    {"box9", "box9", linear_zigzag},
    {"mm_naive", "mm_naive", linear_column},
    {"mm_naive", "mm_naive", linear_zigzag},
    {"transposed", "transposed1", column},
    {"transposed", "transposed1", thread_swap},
    {"transposed", "transposed4", thread_swap_8},
    {"heat_t", "heat_t", column},
    {"heat_t", "heat_t", thread_swap},
    {"heat_t", "heat_t", thread_swap_8},
    {"jacobi_tile", "jacobi_tile", thread_swap},
    {"jacobi_tile", "jacobi_tile", zigzag},
    // Barriers and shared memory move along with their block.
    {"controls", "matmul_tiled", column},
};

struct Refusal {
  const char* file;
  const char* kernel;
  const Remap& remap;
  const char* reason;
};

const Refusal refused[] = {
    {"matvec", "matvec", column, "it does not read %ctaid.y"},
    {"mm_naive", "mm_naive", column, "it does not read %ctaid.y"},
    {"matvec", "matvec", thread_swap, "it has one axis only"},
    {"jacobi", "jacobi", linear_column, "it does not divide %ctaid.x * %ntid.x + %tid.x"},
    {"controls", "matmul_tiled", thread_swap, "in shared memory"},
    {"controls", "block_reduce", linear_column, "in shared memory"},
    {"controls", "histogram", linear_column, "blocks can observe each other through it"},
    {"controls", "volatile_sum", linear_column, "volatile or ordered access"},
};

TEST(RemapSuite, Refused) {
  for (const Refusal& row : refused) {
    const Remapped remapped(test::golden_ptx(row.file), row.remap, row.kernel);
    EXPECT_THAT(remapped.plan.refused, HasSubstr(row.reason)) << row.kernel;
    EXPECT_EQ(remapped.text, *remapped.module->text);
  }
}

class RemappedKernel : public ::testing::TestWithParam<Row> {
protected:
  Remapped remapped{test::golden_ptx(GetParam().file), GetParam().remap, GetParam().kernel};
};

TEST_P(RemappedKernel, ComputesTheSame) {
  ASSERT_EQ(remapped.plan.refused.text, "");
  EXPECT_TRUE(remapped.result->diagnostics.empty());
  simt::VerifyOptions options{.launches = 9, .schedules = 1, .threads = 1};
  options.grids = {{1, 1, 1}, {2, 7, 3}, {5, 4, 1}};
  options.blocks = {{32, 1, 1}, {9, 4, 1}, {64, 2, 1}};
  const auto result = simt::verify(remapped.module, remapped.result, GetParam().kernel, options);
  EXPECT_TRUE(result.ok()) << simt::text_of(result, GetParam().kernel);
}

std::string name_of(const Row& row) {
  return fmt::format("{}_{}_{}", row.kernel, static_cast<int>(row.remap.kind), row.remap.width);
}

TEST_P(RemappedKernel, IsTakenByPtxas) {
  test::expect_that_ptxas_takes(remapped.text, "remap_" + name_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Suite, RemappedKernel, ::testing::ValuesIn(eligible),
                         [](const auto& test) { return name_of(test.param); });

} // namespace
} // namespace ptxasw
