#include "forms.cuh"

constexpr int kBlock = 128, kRadius = 3;

__global__ void smooth(const float* in, float* out, int n) {
  __shared__ float s[kBlock + 2 * kRadius];
  const int g = blockIdx.x * kBlock + threadIdx.x;
  const int l = threadIdx.x + kRadius;
  s[l] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < kRadius) {
    s[l - kRadius] = g >= kRadius ? in[g - kRadius] : 0.0f;
    s[l + kBlock] = g + kBlock < n ? in[g + kBlock] : 0.0f;
  }
  __syncthreads();
  if (g < kRadius || g >= n - kRadius) return;
  float sum = 0.0f;
#pragma unroll
  for (int k = -kRadius; k <= kRadius; ++k)
    sum += s[l + k];
  out[g] = sum * (1.0f / (2 * kRadius + 1));
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_d", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      smooth<<<(n * n + kBlock - 1) / kBlock, kBlock>>>(a, b, n * n);
      std::swap(a, b);
    }
  });
}
