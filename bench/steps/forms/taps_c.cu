#include "forms.cuh"

// Any radius up to the largest one; the weights are the host's.
constexpr int radius = 2, side = 2 * radius + 1;
__constant__ float weights[side * side];

__global__ void filter(const float* __restrict__ src, float* __restrict__ dst, int width,
                       int height) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= radius && col < width - radius && row >= radius && row < height - radius) {
    float value = 0.f;
#pragma unroll 1
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx)
        value += weights[(dy + radius) * side + dx + radius] * src[(row + dy) * width + col + dx];
    dst[row * width + col] = value;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "taps_c", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    float host[side * side];
    for (int k = 0; k < side * side; ++k)
      host[k] = (k % 3 + 1) / 49.0f;
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      filter<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
