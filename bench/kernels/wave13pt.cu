// Acoustic wave equation, fourth order in space: 13 points of the present and one of the past.
#include "grid.cuh"

extern "C" __global__ void wave13pt(const float* __restrict__ w0, const float* __restrict__ w1,
                                    float* __restrict__ w2, int nx, int ny, int nz, float c0,
                                    float c1, float c2) {
  const int i = inner(2), j = 2 + blockIdx.y, k = 2 + blockIdx.z;
  if (i > nx - 3 || j > ny - 3 || k > nz - 3) return;
  const Box at{nx, ny};
  w2[at(i, j, k)] = c0 * w1[at(i, j, k)] - w0[at(i, j, k)] +
                    c1 * (w1[at(i + 1, j, k)] + w1[at(i - 1, j, k)] + w1[at(i, j + 1, k)] +
                          w1[at(i, j - 1, k)] + w1[at(i, j, k + 1)] + w1[at(i, j, k - 1)]) +
                    c2 * (w1[at(i + 2, j, k)] + w1[at(i - 2, j, k)] + w1[at(i, j + 2, k)] +
                          w1[at(i, j - 2, k)] + w1[at(i, j, k + 2)] + w1[at(i, j, k - 2)]);
}
