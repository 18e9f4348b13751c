#include "forms.cuh"

// Conductivities at the faces, from those of both cells.
__global__ void conduct(const float* T, const float* k, float* Tn, int nx, int ny, float dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float flux = (k[i] + k[i + 1]) * (T[i + 1] - T[i]) - (k[i] + k[i - 1]) * (T[i] - T[i - 1]) +
               (k[i] + k[i + nx]) * (T[i + nx] - T[i]) - (k[i] + k[i - nx]) * (T[i] - T[i - nx]);
  Tn[i] = T[i] + dt * 0.5f * flux;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "coefficients_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    float* kappa = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      conduct<<<grid, block>>>(a, kappa, b, n, n, 0.01f);
      std::swap(a, b);
    }
  });
}
