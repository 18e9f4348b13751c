// Four columns of C a thread: each element of A is loaded once for all of them.
#include "group.cuh"

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int nx, int ny, int nz) {
  constexpr int C = 4;
  const int i = inner(0), j = blockIdx.y;
  const int columns = min(blocks_to_do<C>(), nz - j);
  if (i >= nx || columns <= 0) return;
  float sum[C] = {};
  if (columns == C) {
    for (int k = 0; k < ny; ++k) {
      const float here = a[i + nx * k];
#pragma unroll
      for (int n = 0; n < C; ++n)
        sum[n] += here * b[k + ny * (j + n)];
    }
  } else {
    for (int n = 0; n < columns; ++n) {
      float one = 0.0f;
      for (int k = 0; k < ny; ++k)
        one += a[i + nx * k] * b[k + ny * (j + n)];
      sum[n] = one;
    }
  }
#pragma unroll
  for (int n = 0; n < C; ++n)
    if (n < columns) c[i + nx * (j + n)] += sum[n];
}
