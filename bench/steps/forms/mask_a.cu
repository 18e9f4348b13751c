#include "forms.cuh"

__global__ void cavity(const float* u, float* v, const int* mask, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  if (mask[i]) v[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "mask_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    int* mask = arrays.flags(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      cavity<<<grid, block>>>(a, b, mask, n, n);
      std::swap(a, b);
    }
  });
}
