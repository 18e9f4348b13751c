#include "forms.cuh"

// Along both axes, over the inside alone.
__global__ void relax(double* fresh, const double* old, int rows, int cols) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y + 1; r < rows - 1; r += blockDim.y * gridDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x + 1; c < cols - 1;
         c += blockDim.x * gridDim.x)
      fresh[r * cols + c] = 0.25 * (old[r * cols + c - 1] + old[r * cols + c + 1] +
                                    old[(r - 1) * cols + c] + old[(r + 1) * cols + c]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "gridstride_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid(8, 32);
    for (int t = 0; t < steps; ++t) {
      relax<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
