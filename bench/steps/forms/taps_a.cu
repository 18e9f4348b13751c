#include "forms.cuh"

#define RADIUS 3
__constant__ float weights[2 * RADIUS + 1] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
__global__ void stencil_1d(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < RADIUS || i >= n - RADIUS) return;
  float sum = 0;
  for (int r = -RADIUS; r <= RADIUS; ++r)
    sum += weights[r + RADIUS] * in[i + r];
  out[i] = sum;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "taps_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(256), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      stencil_1d<<<grid, block>>>(a, b, n * n);
      std::swap(a, b);
    }
  });
}
