// Divergence of a vector field: three central differences, one per axis, of three arrays. Only the
// x pair lies in one row, so one of the six loads has its value in another lane.
#include "grid.cuh"

extern "C" __global__ void divergence(const float* __restrict__ ux, const float* __restrict__ uy,
                                      const float* __restrict__ uz, float* __restrict__ u, int nx,
                                      int ny, int nz, float al, float be, float ga) {
  const int i = inner(1), j = 1 + blockIdx.y, k = 1 + blockIdx.z;
  if (i > nx - 2 || j > ny - 2 || k > nz - 2) return;
  const Box at{nx, ny};
  u[at(i, j, k)] = al * (ux[at(i + 1, j, k)] - ux[at(i - 1, j, k)]) +
                   be * (uy[at(i, j + 1, k)] - uy[at(i, j - 1, k)]) +
                   ga * (uz[at(i, j, k + 1)] - uz[at(i, j, k - 1)]);
}
