#include "forms.cuh"

// Rows begin at multiples of nx; those above the first and below the last one are found modulo the
// size of the whole array.
__global__ void spread(const float* __restrict__ now, float* __restrict__ next, unsigned nx,
                       unsigned ny) {
  const unsigned all = nx * ny;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += blockDim.x * gridDim.x) {
    const unsigned x = i % nx, row = i - x;
    const unsigned west = (x + nx - 1) % nx, east = (x + 1) % nx;
    const unsigned north = (row + all - nx) % all, south = (row + nx) % all;
    next[row + x] = now[i] + 0.125f * (now[row + west] + now[row + east] + now[north + x] +
                                       now[south + x] - 4 * now[i]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "line_torus_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      spread<<<132 * 4, 256>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
