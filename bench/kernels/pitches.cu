// Neighbours along the lanes in arrays of structures: from lane to lane so many words, which the
// compiler knows. Whether a shuffle pays for them by default hangs on these distances, so they are
// measured one by one: multiples of a sector, of a line, of a page, and one or more words besides.
#include "grid.cuh"

template <int Words, int R>
__device__ void neighbours(const float* __restrict__ in, float* __restrict__ out, int nx, int ny,
                           float w0, float w1) {
  const int i = inner(R), j = blockIdx.y;
  if (i > nx - 1 - R || j >= ny) return;
  float sum = 0.0f;
#pragma unroll
  for (int d = -R; d <= R; ++d)
    sum += (d == 0 ? w0 : w1) * in[(i + d) * Words + j];
  out[j * nx + i] = sum;
}

#define PITCH(words)                                                                               \
  extern "C" __global__ void pitch##words(const float* __restrict__ in, float* __restrict__ out,   \
                                          int nx, int ny, float w0, float w1) {                    \
    neighbours<words, 1>(in, out, nx, ny, w0, w1);                                                 \
  }                                                                                                \
  extern "C" __global__ void pitch##words##_4(                                                     \
      const float* __restrict__ in, float* __restrict__ out, int nx, int ny, float w0, float w1) { \
    neighbours<words, 4>(in, out, nx, ny, w0, w1);                                                 \
  }

PITCH(8)
PITCH(12)
PITCH(16)
PITCH(24)
PITCH(32)
PITCH(33)
PITCH(36)
PITCH(48)
PITCH(64)
PITCH(80)
PITCH(128)
PITCH(132)
PITCH(256)
PITCH(1024)
PITCH(1056)
