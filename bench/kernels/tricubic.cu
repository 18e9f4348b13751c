// Tricubic interpolation over 4x4x4 points, written out in one expression: 64 loads of the field
// (48 of them in another lane) and three of the displacements.
#include "grid.cuh"
#include "tricubic.cuh"

struct Field {
  const float* __restrict__ u;
  Box at;
  __device__ float row(const CubicWeights& wa, int i, int j, int k) const {
    return wa[0] * u[at(i - 1, j, k)] + wa[1] * u[at(i, j, k)] + wa[2] * u[at(i + 1, j, k)] +
           wa[3] * u[at(i + 2, j, k)];
  }
  __device__ float plane(const CubicWeights& wa, const CubicWeights& wb, int i, int j,
                         int k) const {
    return wb[0] * row(wa, i, j - 1, k) + wb[1] * row(wa, i, j, k) + wb[2] * row(wa, i, j + 1, k) +
           wb[3] * row(wa, i, j + 2, k);
  }
};

extern "C" __global__ void tricubic(const float* __restrict__ u0, const float* __restrict__ a,
                                    const float* __restrict__ b, const float* __restrict__ c,
                                    float* __restrict__ u1, int nx, int ny, int nz) {
  const int i = inner(1), j = 1 + blockIdx.y, k = 1 + blockIdx.z;
  if (i > nx - 3 || j > ny - 3 || k > nz - 3) return;
  const Box at{nx, ny};
  const int here = at(i, j, k);
  const CubicWeights wa(a[here]), wb(b[here]), wc(c[here]);
  const Field f{u0, at};
  u1[here] = wc[0] * f.plane(wa, wb, i, j, k - 1) + wc[1] * f.plane(wa, wb, i, j, k) +
             wc[2] * f.plane(wa, wb, i, j, k + 1) + wc[3] * f.plane(wa, wb, i, j, k + 2);
}
