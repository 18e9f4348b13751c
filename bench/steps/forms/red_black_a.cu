#include "forms.cuh"

// In place.
__global__ void colour(float* u, int n, int parity) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1 || (x + y) % 2 != parity) return;
  int i = y * n + x;
  u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "red_black_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      colour<<<grid, block>>>(a, n, t % 2);
      std::swap(a, b);
    }
  });
}
