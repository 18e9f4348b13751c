// 5x5 Gaussian blur with six distinct weights, named by the squared distance from the centre.
// 25 loads from five rows: twenty of them are in another lane.
#include "grid.cuh"

extern "C" __global__ void gaussblur(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                     int ny, float s0, float s1, float s2, float s4, float s5,
                                     float s8) {
  const int i = inner(2), j = 2 + blockIdx.y;
  if (i > nx - 3 || j > ny - 3) return;
  const Plane at{nx};
  const float f = 1.0f / (s0 + 4.0f * (s1 + s2 + s4 + s8) + 8.0f * s5);
  u1[at(i, j)] =
      f * (s0 * u0[at(i, j)] +
           s1 * (u0[at(i - 1, j)] + u0[at(i + 1, j)] + u0[at(i, j - 1)] + u0[at(i, j + 1)]) +
           s2 * (u0[at(i - 1, j - 1)] + u0[at(i + 1, j - 1)] + u0[at(i - 1, j + 1)] +
                 u0[at(i + 1, j + 1)]) +
           s4 * (u0[at(i - 2, j)] + u0[at(i + 2, j)] + u0[at(i, j - 2)] + u0[at(i, j + 2)]) +
           s5 * (u0[at(i - 2, j - 1)] + u0[at(i - 1, j - 2)] + u0[at(i + 1, j - 2)] +
                 u0[at(i + 2, j - 1)] + u0[at(i - 2, j + 1)] + u0[at(i - 1, j + 2)] +
                 u0[at(i + 1, j + 2)] + u0[at(i + 2, j + 1)]) +
           s8 * (u0[at(i - 2, j - 2)] + u0[at(i + 2, j - 2)] + u0[at(i - 2, j + 2)] +
                 u0[at(i + 2, j + 2)]));
}
