#include "forms.cuh"

__global__ void lap(double* o, const double* u, long long nx, long long ny) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  long long j = blockIdx.y * (long long)blockDim.y + threadIdx.y;
  if (i <= 0 || i >= nx - 1 || j <= 0 || j >= ny - 1) return;
  o[i + j * nx] =
      0.25 * (u[i - 1 + j * nx] + u[i + 1 + j * nx] + u[i + (j - 1) * nx] + u[i + (j + 1) * nx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "long_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      lap<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
