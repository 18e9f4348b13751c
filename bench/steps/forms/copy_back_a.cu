#include "forms.cuh"

// As the kernels of PolyBench are written: the second one copies the interior, and each array keeps
// a rim of its own.
__global__ void jacobi_kernel1(int n, float* A, float* B) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i >= 1) && (i < (n - 1)) && (j >= 1) && (j < (n - 1)))
    B[i * n + j] = 0.2f * (A[i * n + j] + A[i * n + (j - 1)] + A[i * n + (1 + j)] +
                           A[(1 + i) * n + j] + A[(i - 1) * n + j]);
}

__global__ void jacobi_kernel2(int n, float* A, float* B) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i >= 1) && (i < (n - 1)) && (j >= 1) && (j < (n - 1))) A[i * n + j] = B[i * n + j];
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "copy_back_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      jacobi_kernel1<<<grid, block>>>(n, a, b);
      jacobi_kernel2<<<grid, block>>>(n, a, b);
    }
  });
}
