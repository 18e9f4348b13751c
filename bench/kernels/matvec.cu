// y = A^T x with one thread per column: neighbouring lanes walk neighbouring columns, so every
// load of A is uncoalesced, and yet no lane loads what another one has.
#include "grid.cuh"

extern "C" __global__ void matvec(const float* __restrict__ a, const float* __restrict__ x,
                                  float* __restrict__ y, int nx, int ny) {
  const int j = inner(0);
  if (j >= ny) return;
  float sum = 0.0f;
  for (int i = 0; i < nx; ++i)
    sum += a[i + nx * j] * x[i];
  y[j] = sum;
}
