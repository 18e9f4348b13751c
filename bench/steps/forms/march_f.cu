#include "forms.cuh"

// A thread for each column, which goes down row by row; nvcc unrolls that.
__global__ void smooth(const double* src, double* dst, int width, int height) {
  int col = threadIdx.x + blockIdx.x * blockDim.x;
  if (col == 0 || col >= width - 1) return;
  for (int row = 1; row < height - 1; row++)
    dst[row * width + col] = 0.25 * (src[(row - 1) * width + col] + src[(row + 1) * width + col] +
                                     src[row * width + col - 1] + src[row * width + col + 1]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march_f", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      smooth<<<(n + 127) / 128, 128>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
