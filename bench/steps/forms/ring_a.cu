#include "forms.cuh"

__global__ void burgers(const double* u, double* un, int n, double c, double nu) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int left = i > 0 ? i - 1 : n - 1;
  int right = i < n - 1 ? i + 1 : 0;
  un[i] = u[i] - c * u[i] * (u[i] - u[left]) + nu * (u[right] - 2 * u[i] + u[left]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "ring_a", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(256), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      burgers<<<grid, block>>>(a, b, n * n, 0.01, 0.1);
      std::swap(a, b);
    }
  });
}
