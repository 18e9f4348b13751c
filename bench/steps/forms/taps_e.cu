#include "forms.cuh"

// 81 taps, too many for the compiler to write all of them down.
#define R 4
__global__ void blur(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < R || x >= w - R || y < R || y >= h - R) return;
  float s = 0;
  for (int dy = -R; dy <= R; dy++)
#pragma unroll 1
    for (int dx = -R; dx <= R; dx++)
      s += in[(y + dy) * w + x + dx];
  out[y * w + x] = s * (1.0f / ((2 * R + 1) * (2 * R + 1)));
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "taps_e", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      blur<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
