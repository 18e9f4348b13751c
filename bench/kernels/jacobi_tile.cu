// The 3x3 Jacobi sweep with 2-D blocks and guards on both sides: when blockDim.x is no multiple of
// 32, a warp spans several rows and lane + 1 is not always i + 1.
#include "grid.cuh"

extern "C" __global__ void jacobi_tile(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                       int ny, float c0, float c1, float c2) {
  const int i = inner(0), j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || i > nx - 2 || j < 1 || j > ny - 2) return;
  const Plane at{nx};
  u1[at(i, j)] = c0 * u0[at(i, j)] +
                 c1 * (u0[at(i - 1, j)] + u0[at(i + 1, j)] + u0[at(i, j - 1)] + u0[at(i, j + 1)]) +
                 c2 * (u0[at(i - 1, j - 1)] + u0[at(i + 1, j - 1)] + u0[at(i - 1, j + 1)] +
                       u0[at(i + 1, j + 1)]);
}
