#include "forms.cuh"

// A block for each row, a thread for each column.
__global__ void relax(double* next, const double* now, int n) {
  int row = blockIdx.x, column = threadIdx.x;
  if (row == 0 || column == 0 || row == n - 1 || column == n - 1) return;
  int i = row * blockDim.x + column;
  next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - blockDim.x] + now[i + blockDim.x]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "block_rows_a", [](int n, int steps, forms::Arrays& arrays) {
    const int size = std::min(n, 1024);
    double *a = arrays.doubles(size_t(size) * size), *b = arrays.doubles(size_t(size) * size);
    for (int t = 0; t < steps; ++t) {
      relax<<<size, size>>>(b, a, size);
      std::swap(a, b);
    }
  });
}
