// Fourth-order update of the x velocity from the stress tensor on a staggered grid (AWP-ODC): four
// stencil points along each axis, of three arrays, and the density averaged over four cells.
#include "grid.cuh"

extern "C" __global__ void uxx1(const float* __restrict__ d1, const float* __restrict__ u0,
                                const float* __restrict__ xx, const float* __restrict__ xy,
                                const float* __restrict__ xz, float* __restrict__ u1, int nx,
                                int ny, int nz, float dth, float c1, float c2) {
  const int i = inner(2), j = 2 + blockIdx.y, k = 2 + blockIdx.z;
  if (i > nx - 2 || j > ny - 2 || k > nz - 2) return;
  const Box at{nx, ny};
  const float d = 0.25f * (d1[at(i, j, k)] + d1[at(i, j - 1, k)] + d1[at(i, j, k - 1)] +
                           d1[at(i, j - 1, k - 1)]);
  u1[at(i, j, k)] =
      u0[at(i, j, k)] + (dth / d) * (c1 * (xx[at(i, j, k)] - xx[at(i - 1, j, k)]) +
                                     c2 * (xx[at(i + 1, j, k)] - xx[at(i - 2, j, k)]) +
                                     c1 * (xy[at(i, j, k)] - xy[at(i, j - 1, k)]) +
                                     c2 * (xy[at(i, j + 1, k)] - xy[at(i, j - 2, k)]) +
                                     c1 * (xz[at(i, j, k)] - xz[at(i, j, k - 1)]) +
                                     c2 * (xz[at(i, j, k + 1)] - xz[at(i, j, k - 2)]));
}
