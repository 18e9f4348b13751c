// The 7-point Laplacian with four rows a thread: the rows between two outputs are loaded once.
#include "group.cuh"

constexpr int C = 4;

// `all`: the group is full, and no row needs a check.
template <bool all>
__device__ inline void rows_of_group(const float* __restrict__ u0, float* __restrict__ u1, Box at,
                                     int i, int j, int k, int rows, float al, float be) {
  float below = u0[at(i, j - 1, k)], here = u0[at(i, j, k)];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (!all && c >= rows) break;
    const int y = j + c;
    const float above = u0[at(i, y + 1, k)];
    u1[at(i, y, k)] = al * here + be * (u0[at(i - 1, y, k)] + u0[at(i + 1, y, k)] + below + above +
                                        u0[at(i, y, k - 1)] + u0[at(i, y, k + 1)]);
    below = here;
    here = above;
  }
}

extern "C" __global__ void laplacian(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                     int ny, int nz, float al, float be) {
  const int i = inner(1), j = 1 + blockIdx.y, k = 1 + blockIdx.z;
  const int rows = min(blocks_to_do<C>(), ny - 1 - j);
  if (i > nx - 2 || rows <= 0 || k > nz - 2) return;
  const Box at{nx, ny};
  if (rows == C)
    rows_of_group<true>(u0, u1, at, i, j, k, rows, al, be);
  else
    rows_of_group<false>(u0, u1, at, i, j, k, rows, al, be);
}
