// Kernels of programs that count on how many blocks fit on the chip: for check.py, which says how
// they are launched. Rows have `width` elements and a frame of two; so have columns.
#include <cooperative_groups.h>

namespace {
__device__ int row() {
  return blockIdx.y;
} // blocks are one row of threads
__device__ int column() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
} // namespace

// Eight sums along the columns around this one, in few registers: two blocks of 1024 threads fit on
// an SM. Merged ones have eight for each copy.
extern "C" __global__ void sums(const float* __restrict__ in, float* __restrict__ out, int width,
                                int rows) {
  const int x = column(), y = row();
  if (x >= width || y >= rows) return;
  float sum[8] = {};
  for (int k = 0; k < rows; ++k) {
    const float here = in[k * (width + 4) + x], other = in[k * (width + 4) + y % width];
#pragma unroll
    for (int n = 0; n < 8; ++n)
      sum[n] = fmaf(sum[n], 0.25f + 0.03f * n, here * (n + 1) - other);
  }
  float all = 0;
#pragma unroll
  for (int n = 0; n < 8; ++n)
    all = all * 0.7f + sum[n];
  out[y * width + x] = all;
}

// 25 neighbours: rows that merged blocks share.
extern "C" __global__ void box(const float* __restrict__ in, float* __restrict__ out, int width,
                               int rows) {
  const int x = column(), y = row();
  if (x >= width || y >= rows) return;
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 5; ++dy)
#pragma unroll
    for (int dx = 0; dx < 5; ++dx)
      sum += in[(y + dy) * (width + 4) + x + dx] * (0.03f + 0.01f * dy - 0.002f * dx);
  out[y * width + x] = sum;
}

// A step, a barrier of all blocks that the program wrote itself, and a step on what others wrote.
extern "C" __global__ void own_barrier(const float* __restrict__ in, float* between, float* out,
                                       unsigned* arrived, int width, int rows) {
  const int x = column(), y = row();
  const bool inside = x < width && y < rows;
  if (inside) {
    const float* at = in + (y + 2) * (width + 4) + x + 2;
    between[y * width + x] = 0.25f * (at[-1] + at[1] + at[-(width + 4)] + at[width + 4]) - at[0];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x * gridDim.y) {
    }
  }
  __syncthreads();
  if (!inside) return;
  const int up = y == 0 ? rows - 1 : y - 1, down = y == rows - 1 ? 0 : y + 1;
  out[y * width + x] = __ldcg(between + up * width + x) + __ldcg(between + down * width + x);
}

// The same with the barrier of cooperative_groups.
extern "C" __global__ void group_barrier(const float* __restrict__ in, float* between, float* out,
                                         unsigned*, int width, int rows) {
  const int x = column(), y = row();
  const bool inside = x < width && y < rows;
  if (inside) {
    const float* at = in + (y + 2) * (width + 4) + x + 2;
    between[y * width + x] = 0.25f * (at[-1] + at[1] + at[-(width + 4)] + at[width + 4]) - at[0];
  }
  cooperative_groups::this_grid().sync();
  if (!inside) return;
  const int up = y == 0 ? rows - 1 : y - 1, down = y == rows - 1 ? 0 : y + 1;
  out[y * width + x] = __ldcg(between + up * width + x) + __ldcg(between + down * width + x);
}

// The grid is as large as the occupancy functions say; each thread takes what its place in it
// gives, so that its sums tell how many blocks there were.
extern "C" __global__ void fitted(const float* __restrict__ in, float* __restrict__ out, int width,
                                  int rows) {
  const int x = column();
  if (x >= width) return;
  float sum[8] = {};
  const int iterations = (rows + gridDim.y - 1) / gridDim.y;
  for (int k = 0; k < iterations; ++k) {
    const int y = min(k * static_cast<int>(gridDim.y) + row(), rows - 1);
    const float here = in[y * (width + 4) + x], common = in[k * (width + 4) + x + 1];
#pragma unroll
    for (int n = 0; n < 8; ++n)
      sum[n] = fmaf(sum[n], 0.25f + 0.03f * n, here * (n + 1) - common);
  }
  float all = 0;
#pragma unroll
  for (int n = 0; n < 8; ++n)
    all = all * 0.7f + sum[n];
  out[row() * width + x] = all;
}
