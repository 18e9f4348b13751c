// xy = sin(x) + cos(y) with the precise library functions: the argument reduction brings loops,
// branches and local memory, which an analysis must survive to say that there is nothing to gain.
// (The entry is not called sincos because the C library owns that name.)
#include "grid.cuh"

extern "C" __global__ void sincos_xy(const float* __restrict__ x, const float* __restrict__ y,
                                     float* __restrict__ xy, int nx, int ny, int nz) {
  const int i = inner(0), j = blockIdx.y, k = blockIdx.z;
  if (i >= nx || j >= ny || k >= nz) return;
  const int at = Box{nx, ny}(i, j, k);
  xy[at] = sinf(x[at]) + cosf(y[at]);
}
