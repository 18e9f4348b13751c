#include "forms.cuh"

#define IDX(i, j) ((j)*w + (i))
__global__ void diffuse(double* next, double* cur, int w, int h, double dt) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const int j = threadIdx.y + blockIdx.y * blockDim.y;
  if (i < w && j < h) {
    if (i > 0 && i < w - 1) {
      if (j > 0 && j < h - 1) {
        const double lap = cur[IDX(i - 1, j)] + cur[IDX(i + 1, j)] + cur[IDX(i, j - 1)] +
                           cur[IDX(i, j + 1)] - 4 * cur[IDX(i, j)];
        next[IDX(i, j)] = cur[IDX(i, j)] + dt * lap;
      }
    }
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "returns_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(b, a, n, n, 0.1);
      std::swap(a, b);
    }
  });
}
