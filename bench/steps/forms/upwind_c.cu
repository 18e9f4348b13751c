#include "forms.cuh"

// The place is chosen by data.
__global__ void advect(const float* c, float* o, const float* u, int nx, int ny, float dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  int k = u[i] > 1.5f ? i - 1 : i + 1;
  o[i] = c[i] + dt * u[i] * (c[k] - c[i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "upwind_c", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    float* u = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      advect<<<grid, block>>>(a, b, u, n, n, 0.3f);
      std::swap(a, b);
    }
  });
}
