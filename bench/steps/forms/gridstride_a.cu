#include "forms.cuh"

__global__ void smooth(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (i > 0 && i < n - 1) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "gridstride_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(256), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      smooth<<<grid, block>>>(a, b, n * n);
      std::swap(a, b);
    }
  });
}
