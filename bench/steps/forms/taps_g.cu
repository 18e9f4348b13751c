#include "forms.cuh"

// A stencil as a table, as lattice codes write it: far ones, too.
struct Tap {
  int dx, dy;
  float c;
};
__constant__ const Tap taps[] = {{0, 0, 0.5f},   {1, 0, 0.1f},  {-1, 0, 0.1f},  {0, 1, 0.1f},
                                 {0, -1, 0.1f},  {2, 0, 0.02f}, {-2, 0, 0.02f}, {0, 2, 0.02f},
                                 {0, -2, 0.02f}, {1, 1, 0.01f}, {-1, -1, 0.01f}};

__global__ void apply(float* __restrict__ to, const float* __restrict__ from, int nx, int ny) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
  if (i < 2 || j < 2 || i > nx - 3 || j > ny - 3) return;
  float acc = 0.0f;
#pragma unroll 1
  for (const Tap& tap : taps)
    acc += tap.c * from[(j + tap.dy) * nx + (i + tap.dx)];
  to[j * nx + i] = acc;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "taps_g", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(64, 4), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      apply<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
