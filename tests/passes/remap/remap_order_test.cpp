// Which block, element or thread does whose work: remapped kernels that write down where they are,
// against loops that say the same in other words. Every place is taken once.
#include "passes/remap/remap_case.hpp"

#include "emulator/kernel_text.hpp"
#include "simt/machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace ptxasw {
namespace {

using simt::Dim3;
using test::kernel_text;
using test::Remapped;

using Order = std::vector<std::uint32_t>; // linear places in the order in which they are taken

// Row by row in columns `width` wide.
Order columns(std::uint32_t nx, std::uint32_t ny, std::uint32_t width, bool zigzag) {
  Order order;
  for (std::uint32_t column = 0; column < nx; column += width) {
    const std::uint32_t right = std::min(nx, column + width);
    for (std::uint32_t y = 0; y < ny; ++y) {
      const bool backwards = zigzag && y % 2 == 1;
      for (std::uint32_t x = column; x < right; ++x)
        order.push_back(y * nx + (backwards ? column + right - 1 - x : x));
    }
  }
  return order;
}

// The places that the threads take, in the order of blocks and in these of the linear thread
// number.
Order run(const Remapped& remapped, Dim3 grid, Dim3 block, std::uint32_t n = 0,
          std::uint32_t m = 0) {
  EXPECT_EQ(remapped.plan.refused.text, "");
  const std::uint64_t threads = grid.count() * block.count();
  simt::Memory memory;
  const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(4 * threads));
  Order order(threads, ~0U);
  simt::Launch launch{.grid = grid,
                      .block = block,
                      .arguments = {simt::value(out), simt::value(out),
                                    simt::value(std::uint64_t{n}), simt::value(std::uint64_t{m})}};
  launch.observer = [&](const simt::Access& access) {
    if (access.kind != simt::Access::Kind::store) return;
    const std::uint64_t b =
        (std::uint64_t{access.block.z} * grid.y + access.block.y) * grid.x + access.block.x;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if ((access.mask >> lane & 1U) == 0) continue;
      order.at(b * block.count() + access.warp * 32 + lane) =
          static_cast<std::uint32_t>((access.addresses[lane] - out) / 4);
    }
  };
  const auto program = simt::compile(remapped.result, "k");
  const simt::Result result = simt::run(**program, launch, memory);
  EXPECT_TRUE(result.ok()) << result.message;
  return order;
}

bool is_permutation_of_all(Order order) {
  std::ranges::sort(order);
  Order all(order.size());
  std::iota(all.begin(), all.end(), 0U);
  return order == all;
}

// --- Blocks --------------------------------------------------------------------------------------

// out[linear number of the block] = 1
const std::string blocks_text = kernel_text(R"(
  mov.u32 %r4, %ctaid.z; mov.u32 %r5, %nctaid.y; mov.u32 %r6, %ctaid.y;
  mad.lo.u32 %r4, %r4, %r5, %r6;
  mov.u32 %r5, %nctaid.x;
  mad.lo.u32 %r4, %r4, %r5, %ctaid.x;
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd2;
  st.global.u32 [%rd3], 1;
  ret;)");

struct BlockCase {
  Remap remap;
  std::uint32_t width; // of columns
  bool zigzag = false;
};

TEST(RemapOrder, Blocks) {
  std::vector<BlockCase> cases{{{.kind = RemapKind::swap}, 1}};
  for (const unsigned width : {1U, 2U, 3U, 4U, 7U, 8U, 100U}) {
    cases.push_back({{.kind = RemapKind::column, .width = width}, width});
    cases.push_back({{.kind = RemapKind::zigzag, .width = width}, width, true});
  }
  for (const BlockCase& one : cases) {
    const Remapped remapped(blocks_text, one.remap);
    for (std::uint32_t nx = 1; nx <= 9; ++nx) {
      for (std::uint32_t ny = 1; ny <= 7; ++ny) {
        EXPECT_EQ(run(remapped, {nx, ny, 1}, {1, 1, 1}), columns(nx, ny, one.width, one.zigzag))
            << fmt::format("{}x{} blocks in columns of {}", nx, ny, one.width);
      }
    }
  }
}

TEST(RemapOrder, EachPlaneOfBlocksByItself) {
  const Remapped remapped(blocks_text, {.kind = RemapKind::column, .width = 2});
  Order expected = columns(5, 3, 2, false);
  for (std::size_t n = 0; n < 15; ++n)
    expected.push_back(expected[n] + 15);
  EXPECT_EQ(run(remapped, {5, 3, 2}, {1, 1, 1}), expected);
}

// --- Elements ------------------------------------------------------------------------------------

// e = %ctaid.x*%ntid.x + %tid.x; if (e < n*m) out[e] = in[e / n]
const std::string elements_text = kernel_text(R"(
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;
  mad.lo.s32 %r6, %r4, %r5, %r3;
  mul.lo.s32 %r7, %r1, %r2;
  setp.ge.s32 %p1, %r6, %r7;
  @%p1 ret;
  div.s32 %r8, %r6, %r1;
  mul.wide.s32 %rd3, %r8, 4; add.s64 %rd3, %rd3, %rd1;
  ld.global.u32 %r9, [%rd3];
  mul.wide.s32 %rd4, %r6, 4; add.s64 %rd4, %rd4, %rd2;
  st.global.u32 [%rd4], %r9;
  ret;)");

Order elements(std::uint32_t width, std::uint32_t height, unsigned column, bool zigzag,
               std::uint32_t threads) {
  Order order = columns(width, height, column, zigzag);
  order.resize(threads, ~0U);
  return order;
}

TEST(RemapOrder, ElementsOfALinearIndex) {
  for (const bool zigzag : {false, true}) {
    for (const unsigned column : {1U, 3U, 4U, 32U}) {
      const Remapped remapped(
          elements_text,
          {.kind = zigzag ? RemapKind::linear_zigzag : RemapKind::linear_column, .width = column});
      for (std::uint32_t width = 1; width <= 11; ++width) {
        for (std::uint32_t height = 1; height <= 5; ++height) {
          const std::uint32_t blocks = (width * height + 7) / 8 + 1;
          EXPECT_EQ(run(remapped, {blocks, 1, 1}, {8, 1, 1}, width, height),
                    elements(width, height, column, zigzag, 8 * blocks))
              << fmt::format("{}x{} in columns of {}", width, height, column);
        }
      }
    }
  }
}

// More elements than threads: the rows that the launch covers, the others as they were.
TEST(RemapOrder, FewerThreadsThanElements) {
  const Remapped remapped(elements_text, {.kind = RemapKind::linear_column, .width = 2});
  Order expected = columns(5, 3, 2, false);
  expected.push_back(15);
  EXPECT_EQ(run(remapped, {2, 1, 1}, {8, 1, 1}, 5, 100), expected);
}

// Sizes that are no sizes: nothing moves.
TEST(RemapOrder, NoElements) {
  const Remapped remapped(elements_text, {.kind = RemapKind::linear_column, .width = 2});
  for (const auto& [width, height] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 5}, {5, 0}, {-3U, 4}, {7, -1U}})
    EXPECT_EQ(run(remapped, {2, 1, 1}, {8, 1, 1}, width, height), Order(16, ~0U));
}

// --- Threads -------------------------------------------------------------------------------------

// out[linear number of the thread in the grid] = 1, along x, one other axis and blocks of both
std::string threads_text(char axis) {
  std::string text = kernel_text(R"(
  mov.u32 %r4, %ctaid.A; mov.u32 %r5, %ntid.A; mov.u32 %r6, %tid.A;
  mad.lo.u32 %r4, %r4, %r5, %r6;
  mov.u32 %r5, %ntid.x; mov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r5;
  mov.u32 %r7, %ctaid.x;
  mad.lo.u32 %r7, %r7, %r5, %r3;
  mad.lo.u32 %r4, %r4, %r6, %r7;
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd2;
  st.global.u32 [%rd3], 1;
  ret;)");
  std::ranges::replace(text, 'A', axis);
  return text;
}

// `x` and `y` threads a block, in groups of blocks with at least `lanes` rows.
Order swapped(Dim3 grid, std::uint32_t x, std::uint32_t y, unsigned lanes) {
  const std::uint32_t rows = grid.y * y, group = (lanes + y - 1) / y * y;
  Order order(std::size_t{grid.x} * grid.y * x * y);
  for (std::uint32_t bx = 0; bx < grid.x; ++bx) {
    for (std::uint32_t top = 0; top < rows; top += group) {
      const std::uint32_t bottom = std::min(rows, top + group);
      std::uint32_t n = 0;
      for (std::uint32_t column = bx * x; column < bx * x + x; ++column) {
        for (std::uint32_t row = top; row < bottom; ++row, ++n) {
          const std::uint32_t by = top / y + n / (x * y);
          order[(std::size_t{by} * grid.x + bx) * x * y + n % (x * y)] = row * grid.x * x + column;
        }
      }
    }
  }
  return order;
}

TEST(RemapOrder, Threads) {
  const std::string text = threads_text('y');
  for (const unsigned lanes : {1U, 2U, 5U, 8U, 32U}) {
    const Remapped remapped(text, {.kind = RemapKind::thread_swap, .width = lanes});
    for (const std::uint32_t x : {1U, 3U, 8U, 32U}) {
      for (const std::uint32_t y : {1U, 2U, 3U, 16U}) {
        for (const Dim3 grid : {Dim3{1, 1, 1}, Dim3{2, 3, 1}, Dim3{1, 33, 1}, Dim3{3, 16, 1}}) {
          const Order order = run(remapped, grid, {x, y, 1});
          EXPECT_TRUE(is_permutation_of_all(order));
          EXPECT_EQ(order, swapped(grid, x, y, lanes))
              << fmt::format("{} lanes, {}x{} threads, {}x{} blocks", lanes, x, y, grid.x, grid.y);
        }
      }
    }
  }
}

TEST(RemapOrder, ThreadsAlongZ) {
  const Remapped remapped(threads_text('z'), {.kind = RemapKind::thread_swap, .width = 4});
  EXPECT_EQ(remapped.plan.axis, 'z');
  EXPECT_EQ(run(remapped, {2, 1, 7}, {8, 1, 1}), swapped({2, 7, 1}, 8, 1, 4));
}

} // namespace
} // namespace ptxasw
