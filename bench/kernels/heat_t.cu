// A 5-point heat step in f64 with the axes the wrong way round: %tid.x runs along the slow
// dimension, as in a translated code that kept its loop order but not its layout.
#include "grid.cuh"

extern "C" __global__ void heat_t(const double* __restrict__ t0, double* __restrict__ t1, int nx,
                                  int ny, double c) {
  const int i = inner(1), j = 1 + blockIdx.y;
  if (i > nx - 2 || j > ny - 2) return;
  const int at = i * ny + j;
  t1[at] = t0[at] + c * (t0[at - ny] + t0[at + ny] + t0[at - 1] + t0[at + 1] - 4.0 * t0[at]);
}
