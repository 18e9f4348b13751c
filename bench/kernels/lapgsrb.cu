// 25-point Laplacian of a red-black Gauss-Seidel smoother: centre, faces, edges and the six points
// at distance two. No corners of the cube, so rows differ in how much lanes can share.
#include "grid.cuh"

extern "C" __global__ void lapgsrb(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                   int ny, int nz, float c0, float c1, float c2, float c3) {
  const int i = inner(2), j = 2 + blockIdx.y, k = 2 + blockIdx.z;
  if (i > nx - 3 || j > ny - 3 || k > nz - 3) return;
  const Box at{nx, ny};
  u1[at(i, j, k)] =
      c0 * u0[at(i, j, k)] +
      c1 * (u0[at(i - 1, j, k)] + u0[at(i + 1, j, k)] + u0[at(i, j - 1, k)] + u0[at(i, j + 1, k)] +
            u0[at(i, j, k - 1)] + u0[at(i, j, k + 1)]) +
      c2 * (u0[at(i - 1, j - 1, k)] + u0[at(i - 1, j + 1, k)] + u0[at(i + 1, j - 1, k)] +
            u0[at(i + 1, j + 1, k)] + u0[at(i - 1, j, k - 1)] + u0[at(i - 1, j, k + 1)] +
            u0[at(i + 1, j, k - 1)] + u0[at(i + 1, j, k + 1)] + u0[at(i, j - 1, k - 1)] +
            u0[at(i, j - 1, k + 1)] + u0[at(i, j + 1, k - 1)] + u0[at(i, j + 1, k + 1)]) +
      c3 * (u0[at(i - 2, j, k)] + u0[at(i + 2, j, k)] + u0[at(i, j - 2, k)] + u0[at(i, j + 2, k)] +
            u0[at(i, j, k - 2)] + u0[at(i, j, k + 2)]);
}
