#include "forms.cuh"

// Around a torus by remainders that may be negative.
__device__ int around(int i, int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}

__global__ void rule(const int* cells, int* next, int w, int h) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= w || row >= h) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) alive += cells[around(row + dy, h) * w + around(col + dx, w)];
  next[row * w + col] = alive == 3 || (alive == 2 && cells[row * w + col] != 0);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "wrapped_a", [](int n, int steps, forms::Arrays& arrays) {
    int *now = arrays.flags(size_t(n) * n), *next = arrays.flags(size_t(n) * n);
    const dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      rule<<<grid, block>>>(now, next, n, n);
      std::swap(now, next);
    }
  });
}
