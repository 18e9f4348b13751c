#include "forms.cuh"

// A block for each row, a loop over its columns.
__global__ void sweep(const double* A, double* Anew, int n, int m) {
  int j = blockIdx.x + 1;
  for (int i = threadIdx.x + 1; i < m - 1; i += blockDim.x)
    Anew[j * m + i] =
        0.25 * (A[j * m + i + 1] + A[j * m + i - 1] + A[(j - 1) * m + i] + A[(j + 1) * m + i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "rows_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(128), grid = dim3(n - 2);
    for (int t = 0; t < steps; ++t) {
      sweep<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
