#include "forms.cuh"

__global__ void wave(const float* prev, const float* cur, float* next, int nx, int ny, float c2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  int k = j * nx + i;
  if (i == 0 || j == 0 || i == nx - 1 || j == ny - 1) {
    next[k] = 0.0f;
  } else {
    next[k] = 2 * cur[k] - prev[k] +
              c2 * (cur[k - 1] + cur[k + 1] + cur[k - nx] + cur[k + nx] - 4 * cur[k]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "wave_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n),
          *c = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      wave<<<grid, block>>>(a, b, c, n, n, 0.1f);
      float* old = a;
      a = b;
      b = c;
      c = old;
    }
  });
}
