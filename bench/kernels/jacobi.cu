// One Jacobi sweep of a 3x3 stencil: the smallest kernel with lane reuse in every row. Of its nine
// loads six are in a neighbouring lane.
#include "grid.cuh"

extern "C" __global__ void jacobi(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                  int ny, float c0, float c1, float c2) {
  const int i = inner(1), j = 1 + blockIdx.y;
  if (i > nx - 2 || j > ny - 2) return;
  const Plane at{nx};
  u1[at(i, j)] = c0 * u0[at(i, j)] +
                 c1 * (u0[at(i - 1, j)] + u0[at(i + 1, j)] + u0[at(i, j - 1)] + u0[at(i, j + 1)]) +
                 c2 * (u0[at(i - 1, j - 1)] + u0[at(i + 1, j - 1)] + u0[at(i - 1, j + 1)] +
                       u0[at(i + 1, j + 1)]);
}
