#include "forms.cuh"

__global__ void upwind(float* __restrict__ out, const float* __restrict__ in, const int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    const int before = (i - 1 + count) % count;
    out[i] = in[i] - 0.3f * (in[i] - in[before]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "ring_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(256), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      upwind<<<grid, block>>>(b, a, n * n);
      std::swap(a, b);
    }
  });
}
