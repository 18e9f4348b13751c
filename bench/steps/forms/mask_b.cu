#include "forms.cuh"

__global__ void flow(const float* f, float* g, const unsigned char* solid, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
    int i = x + y * w;
    if (solid[i]) {
      g[i] = f[i];
    } else {
      g[i] = f[i] + 0.2f * (f[i - 1] + f[i + 1] + f[i - w] + f[i + w] - 4 * f[i]);
    }
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "mask_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    unsigned char* solid = arrays.bytes(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      flow<<<grid, block>>>(a, b, solid, n, n);
      std::swap(a, b);
    }
  });
}
