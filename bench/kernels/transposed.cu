// Stencils whose lanes walk the slow dimension: every load touches 32 sectors, and the neighbour
// along i that a lane needs sits in the lane beside it. Here a shuffle replaces 32 sectors.
#include "grid.cuh"

template <int R>
__device__ void transposed(const float* __restrict__ in, float* __restrict__ out, int nx, int ny,
                           float w0, float w1) {
  const int i = inner(R), j = blockIdx.y;
  if (i > nx - 1 - R || j >= ny) return;
  float sum = 0.0f;
#pragma unroll
  for (int d = -R; d <= R; ++d)
    sum += (d == 0 ? w0 : w1) * in[(i + d) * ny + j];
  out[j * nx + i] = sum;
}

extern "C" __global__ void transposed1(const float* __restrict__ in, float* __restrict__ out,
                                       int nx, int ny, float w0, float w1) {
  transposed<1>(in, out, nx, ny, w0, w1);
}

extern "C" __global__ void transposed4(const float* __restrict__ in, float* __restrict__ out,
                                       int nx, int ny, float w0, float w1) {
  transposed<4>(in, out, nx, ny, w0, w1);
}
