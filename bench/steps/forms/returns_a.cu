#include "forms.cuh"

__global__ void heat(const float* u, float* v, int nx, int ny, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) return;
  int i = y * nx + x;
  v[i] = u[i] + c * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * u[i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "returns_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      heat<<<grid, block>>>(a, b, n, n, 0.1f);
      std::swap(a, b);
    }
  });
}
