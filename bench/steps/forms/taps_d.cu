#include "forms.cuh"

// The mean of what lies inside: neighbours beyond the rim are skipped, one by one.
__global__ void mean(double* out, const double* in, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  double sum = 0;
#pragma unroll 1
  for (int j = -1; j <= 1; j++) {
#pragma unroll 1
    for (int i = -1; i <= 1; i++) {
      if (x + i >= 0 && x + i < nx && y + j >= 0 && y + j < ny) sum += in[(y + j) * nx + x + i];
    }
  }
  out[y * nx + x] = sum * (1.0 / 9);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "taps_d", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      mean<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
