// Gradient of a scalar field by central differences, into three arrays.
#include "grid.cuh"

extern "C" __global__ void gradient(const float* __restrict__ u, float* __restrict__ ux,
                                    float* __restrict__ uy, float* __restrict__ uz, int nx, int ny,
                                    int nz, float al, float be, float ga) {
  const int i = inner(1), j = 1 + blockIdx.y, k = 1 + blockIdx.z;
  if (i > nx - 2 || j > ny - 2 || k > nz - 2) return;
  const Box at{nx, ny};
  ux[at(i, j, k)] = al * (u[at(i + 1, j, k)] - u[at(i - 1, j, k)]);
  uy[at(i, j, k)] = be * (u[at(i, j + 1, k)] - u[at(i, j - 1, k)]);
  uz[at(i, j, k)] = ga * (u[at(i, j, k + 1)] - u[at(i, j, k - 1)]);
}
