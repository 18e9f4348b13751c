#include "forms.cuh"

// Threads of two-dimensional blocks are numbered one behind the other, rows have a frame.
__global__ void jacobi(const double* u, double* u_new, const double* f, int n, double h2) {
  const int block = blockIdx.x + blockIdx.y * gridDim.x;
  const int index = block * (blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;
  if (index >= n * n) return;
  const int width = n + 2, at = index + 2 * (index / n) + width + 1;
  u_new[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - width] + u[at + width] + h2 * f[at]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "in_line_a", [](int n, int steps, forms::Arrays& arrays) {
    const size_t all = size_t(n) * n;
    double *u = arrays.doubles(all), *next = arrays.doubles(all), *f = arrays.doubles(all);
    const dim3 block(16, 16);
    const int inner = n - 2, blocks = (inner * inner + 255) / 256;
    for (int t = 0; t < steps; ++t) {
      jacobi<<<blocks, block>>>(u, next, f, inner, 1e-4);
      std::swap(u, next);
    }
  });
}
