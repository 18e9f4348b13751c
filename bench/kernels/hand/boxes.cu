// The boxes with eight rows a thread: each row of the image is loaded once into
// registers and serves every output row that it is part of. Sums are in the order of boxes.cu.
#include "group.cuh"

// `all`: the group is full, and no row needs a check.
template <int R, int C, bool all>
__device__ inline void rows_of_group(const float* __restrict__ in, float* __restrict__ out,
                                     Plane at, int i, int j, int rows) {
  float sum[C] = {};
#pragma unroll
  for (int dj = -R; dj < C + R; ++dj) {
    if (!all && dj > rows - 1 + R) break;
    float row[2 * R + 1];
#pragma unroll
    for (int di = -R; di <= R; ++di)
      row[R + di] = in[at(i + di, j + dj)];
#pragma unroll
    for (int c = 0; c < C; ++c)
      if (dj - c >= -R && dj - c <= R)
#pragma unroll
        for (int di = -R; di <= R; ++di)
          sum[c] += row[R + di];
  }
#pragma unroll
  for (int c = 0; c < C; ++c)
    if (all || c < rows) out[at(i, j + c)] = sum[c] * (1.0f / ((2 * R + 1) * (2 * R + 1)));
}

template <int R, int C>
__device__ inline void box(const float* __restrict__ in, float* __restrict__ out, int nx, int ny) {
  const int rows = min(blocks_to_do<C>(), ny - 2 * R - static_cast<int>(blockIdx.y));
  const int i = inner(R), j = R + blockIdx.y;
  if (i >= nx - R || rows <= 0) return;
  const Plane at{nx};
  if (rows == C)
    rows_of_group<R, C, true>(in, out, at, i, j, rows);
  else
    rows_of_group<R, C, false>(in, out, at, i, j, rows);
}

extern "C" __global__ void box3x3(const float* __restrict__ in, float* __restrict__ out, int nx,
                                  int ny) {
  box<1, 8>(in, out, nx, ny);
}

extern "C" __global__ void box5x5(const float* __restrict__ in, float* __restrict__ out, int nx,
                                  int ny) {
  box<2, 8>(in, out, nx, ny);
}

extern "C" __global__ void box9x9(const float* __restrict__ in, float* __restrict__ out, int nx,
                                  int ny) {
  box<4, 8>(in, out, nx, ny);
}
