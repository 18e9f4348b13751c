// Plain box filters over the interior of an image, one thread per point, the row from the grid.
// Rows are shared by neighbouring blocks only, so this is what reuse along blockIdx.y gains most
// on.
#include "grid.cuh"

template <int R> __device__ inline void box(const float* in, float* out, int nx, int ny) {
  const int i = inner(R), j = R + blockIdx.y;
  if (i >= nx - R || j >= ny - R) return;
  const Plane at{nx};
  float sum = 0.0f;
#pragma unroll
  for (int dj = -R; dj <= R; ++dj)
#pragma unroll
    for (int di = -R; di <= R; ++di)
      sum += in[at(i + di, j + dj)];
  out[at(i, j)] = sum * (1.0f / ((2 * R + 1) * (2 * R + 1)));
}

extern "C" __global__ void box3x3(const float* __restrict__ in, float* __restrict__ out, int nx,
                                  int ny) {
  box<1>(in, out, nx, ny);
}

extern "C" __global__ void box5x5(const float* __restrict__ in, float* __restrict__ out, int nx,
                                  int ny) {
  box<2>(in, out, nx, ny);
}

extern "C" __global__ void box9x9(const float* __restrict__ in, float* __restrict__ out, int nx,
                                  int ny) {
  box<4>(in, out, nx, ny);
}
