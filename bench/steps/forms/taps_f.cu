#include "forms.cuh"

// One index for all neighbours, and what it says of them.
__device__ __forceinline__ float weight(int dx, int dy) {
  const int far = dx * dx + dy * dy;
  return far == 0 ? 0.25f : far == 1 ? 0.125f : 0.0625f;
}

__global__ void smooth(float* __restrict__ to, const float* __restrict__ from, int nx, int ny) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
  if (i < 1 || j < 1 || i > nx - 2 || j > ny - 2) return;
  float acc = 0.0f;
#pragma unroll 1
  for (int k = 0; k < 9; ++k) {
    const int dx = k % 3 - 1, dy = k / 3 - 1;
    acc += weight(dx, dy) * from[(j + dy) * nx + (i + dx)];
  }
  to[j * nx + i] = acc;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "taps_f", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(64, 4), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      smooth<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
