#include "forms.cuh"

// One index over a grid, with as many blocks as the chip holds.
__global__ void average(const float* in, float* out, int nx, int ny) {
  int total = nx * ny;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total;
       idx += blockDim.x * gridDim.x) {
    int i = idx % nx, j = idx / nx;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
      out[idx] = 0.25f * (in[idx - 1] + in[idx + 1] + in[idx - nx] + in[idx + nx]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "gridlinear_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      average<<<132 * 4, 256>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
