// 7-point Laplacian in three dimensions: the everyday stencil.
#include "grid.cuh"

extern "C" __global__ void laplacian(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                     int ny, int nz, float al, float be) {
  const int i = inner(1), j = 1 + blockIdx.y, k = 1 + blockIdx.z;
  if (i > nx - 2 || j > ny - 2 || k > nz - 2) return;
  const Box at{nx, ny};
  u1[at(i, j, k)] =
      al * u0[at(i, j, k)] + be * (u0[at(i - 1, j, k)] + u0[at(i + 1, j, k)] + u0[at(i, j - 1, k)] +
                                   u0[at(i, j + 1, k)] + u0[at(i, j, k - 1)] + u0[at(i, j, k + 1)]);
}
