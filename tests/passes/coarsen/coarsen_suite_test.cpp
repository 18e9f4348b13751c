// The benchmark kernels: which can be coarsened, how many loads that leaves, what ptxas says to the
// result, and that it computes the same.
#include "passes/coarsen/coarsen_case.hpp"

#include "simt/verify.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ptxasw {
namespace {

using test::Coarsened;
using test::Factors;
using ::testing::HasSubstr;

struct Row {
  const char* file;
  const char* kernel;
  Factors factors;
  unsigned loads, left; // of all copies together
  bool rows = false;    // cut by rows
};

// A radius of r along the axis makes C + 2r rows out of C*(2r + 1).
const Row eligible[] = {
    {"divergence", "divergence", {1, 8, 1}, 48, 42},
    {"gameoflife", "gameoflife", {1, 8, 1}, 72, 30},
    {"gaussblur", "gaussblur", {1, 8, 1}, 200, 60},
    {"gradient", "gradient", {1, 8, 1}, 48, 42},
    {"jacobi", "jacobi", {1, 8, 1}, 72, 30},
    {"lapgsrb", "lapgsrb", {1, 8, 1}, 200, 116},
    {"laplacian", "laplacian", {1, 8, 1}, 56, 42},
    {"matmul", "matmul", {1, 8, 1}, 88, 53},
    {"tricubic", "tricubic", {1, 8, 1}, 536, 200},
    {"tricubic2", "tricubic2", {1, 8, 1}, 536, 200},
    {"uxx1", "uxx1", {1, 8, 1}, 136, 101},
    {"vecadd", "vecadd", {1, 8, 1}, 16, 16},
    {"wave13pt", "wave13pt", {1, 8, 1}, 112, 84},
    {"whispering", "whispering", {1, 8, 1}, 144, 109},
    // Other axes, products, factors that are no power of two.
    {"jacobi", "jacobi", {1, 2, 1}, 18, 12},
    {"jacobi", "jacobi", {1, 3, 1}, 27, 15},
    {"jacobi", "jacobi", {1, 16, 1}, 144, 54},
    {"laplacian", "laplacian", {1, 1, 8}, 56, 42},
    {"laplacian", "laplacian", {1, 4, 2}, 56, 36},
    {"tricubic", "tricubic", {1, 2, 2}, 268, 112},
    {"laplacian", "laplacian", {2, 1, 1}, 14, 14},
    {"matmul", "matmul", {2, 4, 1}, 88, 38},
    {"controls", "gather", {2, 1, 1}, 4, 4},
    // Barriers, shared memory, warps, loops that copies leave at different times.
    {"controls", "matmul_tiled", {1, 4, 1}, 136, 85},
    {"controls", "block_reduce", {4, 1, 1}, 8, 8},
    {"controls", "first_above", {2, 1, 1}, 2, 2},
    {"controls", "histogram", {2, 1, 1}, 2, 2},
    {"controls", "volatile_sum", {2, 1, 1}, 6, 6},
    {"reductions", "histogram_shared", {4, 1, 1}, 8, 8},
    {"reductions", "dot_u32", {4, 1, 1}, 20, 20},
    // Blocks of several rows, loops, indices of which one must know that they do not wrap.
    {"jacobi_tile", "jacobi_tile", {1, 8, 1}, 72, 30, true},
    {"iterated2d", "j2d25pt_f64", {1, 8, 1}, 200, 60, true},
    {"iterated3d", "j3d27pt_f32", {1, 4, 2}, 216, 72, true},
    {"heat_t", "heat_t", {1, 8, 1}, 40, 26},
    {"hypterm", "hypterm_y", {1, 4, 1}, 212, 92, true},
    {"rhs4th3fort", "rhs4th3fort", {1, 2, 1}, 358, 260, true},
    {"derivative", "derivative", {1, 2, 1}, 332, 295, true},
};

struct Refusal {
  const char* file;
  const char* kernel;
  Factors factors;
  const char* reason;
};

const Refusal refused[] = {
    {"matvec", "matvec", {1, 8, 1}, "it does not read %ctaid.y"},
    {"sincos", "sincos_xy", {1, 8, 1}, "declares local memory"},
    {"jacobi", "jacobi", {1, 1, 2}, "it does not read %ctaid.z"},
    {"cooperation", "spinlock", {2, 1, 1}, "may wait for what another thread stores"},
    {"cooperation", "lookback", {2, 1, 1}, "may wait for what another thread stores"},
    {"cooperation", "queue_persistent", {2, 1, 1}, "may wait for what another thread stores"},
    {"cooperation", "last_block", {2, 1, 1}, "some replicas may not reach this barrier"},
};

TEST(CoarsenSuite, Refused) {
  for (const Refusal& row : refused) {
    const Coarsened coarsened(test::golden_ptx(row.file), {.factors = row.factors}, row.kernel);
    EXPECT_THAT(coarsened.plan.refused, HasSubstr(row.reason)) << row.kernel;
    EXPECT_EQ(coarsened.text, *coarsened.module->text);
  }
}

std::string name_of(const Row& row) {
  return fmt::format("{}_x{}_y{}_z{}", row.kernel, row.factors[0], row.factors[1], row.factors[2]);
}

void PrintTo(const Row& row, std::ostream* out) {
  *out << name_of(row);
}

class CoarsenedKernel : public ::testing::TestWithParam<Row> {
protected:
  Coarsened coarsened{
      test::golden_ptx(GetParam().file), {.factors = GetParam().factors}, GetParam().kernel};
};

TEST_P(CoarsenedKernel, Loads) {
  const Row& row = GetParam();
  ASSERT_EQ(coarsened.plan.refused.text, "");
  EXPECT_EQ(coarsened.report.loads, row.loads);
  EXPECT_EQ(coarsened.report.loads_left, row.left);
  EXPECT_EQ(coarsened.plan.axes[1].rows, row.rows);
  EXPECT_TRUE(coarsened.result->diagnostics.empty());
}

// On grids that the factors divide and on others, blocks of all shapes, pointers that overlap.
TEST_P(CoarsenedKernel, ComputesTheSame) {
  simt::VerifyOptions options{.launches = 6, .schedules = 1, .threads = 1};
  options.grids = {{1, 1, 1}, {2, 7, 3}, {2, 16, 8}}; // with the blocks six shapes
  options.blocks = {{32, 1, 1}, {9, 4, 1}};
  const auto result = simt::verify(coarsened.module, coarsened.result, GetParam().kernel, options);
  EXPECT_TRUE(result.ok()) << simt::text_of(result, GetParam().kernel);
}

TEST_P(CoarsenedKernel, IsTakenByPtxas) {
  test::expect_that_ptxas_takes(coarsened.text, name_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Suite, CoarsenedKernel, ::testing::ValuesIn(eligible),
                         [](const auto& test) { return name_of(test.param); });

// --- Every kernel along every axis -------------------------------------------------------------

// One group of the factor along an axis and a part of the next; small blocks, both orders.
void compute_the_same(const std::string& file, const std::string& kernel, const Factors& factors,
                      unsigned& compared) {
  SCOPED_TRACE(fmt::format("{} {} x{} y{} z{}", file, kernel, factors[0], factors[1], factors[2]));
  for (const auto order : {passes::CopyOrder::copies, passes::CopyOrder::instructions}) {
    const Coarsened coarsened(test::golden_ptx(file), {.factors = factors, .order = order}, kernel);
    if (!coarsened.plan.refused.empty()) return;
    simt::VerifyOptions options{.launches = 1, .schedules = 0, .threads = 1};
    const auto& [x, y, z] = factors;
    options.grids = {{x + x / 2, y + y / 2, z + z / 2}};
    options.blocks = {{8, order == passes::CopyOrder::copies ? 1U : 2U, 1}};
    const auto result = simt::verify(coarsened.module, coarsened.result, kernel, options);
    EXPECT_TRUE(!result.failure && result.error.empty()) << simt::text_of(result, kernel);
    compared += result.equal;
  }
}

class EveryAxis : public ::testing::TestWithParam<unsigned> {};

TEST_P(EveryAxis, ComputesTheSame) {
  unsigned compared = 0;
  for (const Row& row : eligible) {
    const bool listed_before = std::any_of(std::begin(eligible), &row, [&](const Row& other) {
      return std::string_view(other.kernel) == row.kernel;
    });
    if (listed_before) continue;
    for (unsigned axis = 0; axis < 3; ++axis) {
      Factors factors{1, 1, 1};
      factors[axis] = GetParam();
      compute_the_same(row.file, row.kernel, factors, compared);
    }
  }
  EXPECT_GT(compared, 40U);
}

INSTANTIATE_TEST_SUITE_P(Factor, EveryAxis, ::testing::Values(2U, 3U, 4U, 8U));

} // namespace
} // namespace ptxasw
