#include "forms.cuh"

__global__ void step(const float* u, float* un, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx * ny) return;
  int x = i % nx, y = i / nx;
  if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1) return;
  un[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "linear_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(256), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      step<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
