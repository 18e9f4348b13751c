#include "forms.cuh"

__device__ int clamp(int v, int lo, int hi) {
  return v < lo ? lo : v > hi ? hi : v;
}
__global__ void box3(const float* img, float* res, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        sum += img[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
    res[y * width + x] = sum / 9;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "box_clamp_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      box3<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
