#include "forms.cuh"

__global__ void heat_kernel(double* T_new, const double* T_old, int N, double alpha) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < N * N) {
    int row = idx / N;
    int col = idx % N;
    if (row > 0 && row < N - 1 && col > 0 && col < N - 1)
      T_new[idx] = T_old[idx] +
                   alpha * (T_old[(row - 1) * N + col] + T_old[(row + 1) * N + col] +
                            T_old[row * N + col - 1] + T_old[row * N + col + 1] - 4 * T_old[idx]);
    else
      T_new[idx] = T_old[idx];
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "linear_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(256), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      heat_kernel<<<grid, block>>>(b, a, n, 0.1);
      std::swap(a, b);
    }
  });
}
