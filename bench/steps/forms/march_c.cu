#include "forms.cuh"

// A thread for each column, which goes down row by row.
__global__ void columns(const float* __restrict__ in, float* __restrict__ out, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= nx - 1) return;
#pragma unroll 1
  for (int y = 1; y < ny - 1; ++y) {
    const int i = y * nx + x;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march_c", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(64), grid((n + 63) / 64);
    for (int t = 0; t < steps; ++t) {
      columns<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
