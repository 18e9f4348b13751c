// Conway's game of life in floating point: 1 where the cell lives on, about 0 elsewhere. Nine loads
// from three rows; each row can be had from one load and two neighbouring lanes.
#include "grid.cuh"

extern "C" __global__ void gameoflife(const float* __restrict__ u0, float* __restrict__ u1, int nx,
                                      int ny) {
  const int i = inner(1), j = 1 + blockIdx.y;
  if (i > nx - 2 || j > ny - 2) return;
  const Plane at{nx};
  const float alive = u0[at(i - 1, j - 1)] + u0[at(i, j - 1)] + u0[at(i + 1, j - 1)] +
                      u0[at(i - 1, j)] + u0[at(i + 1, j)] + u0[at(i - 1, j + 1)] +
                      u0[at(i, j + 1)] + u0[at(i + 1, j + 1)];
  u1[at(i, j)] = 1.0f / (1.0f + (u0[at(i, j)] + alive - 3.0f) * (alive - 3.0f) * 1e20f);
}
