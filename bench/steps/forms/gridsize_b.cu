#include "forms.cuh"

__global__ void diffuse(const double* a, double* b, size_t n, double k) {
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += stride)
    if (i > 0 && i + 1 < n) b[i] = a[i] + k * (a[i - 1] - 2 * a[i] + a[i + 1]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "gridsize_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<1024, 256>>>(a, b, size_t(n) * n, 0.1);
      std::swap(a, b);
    }
  });
}
