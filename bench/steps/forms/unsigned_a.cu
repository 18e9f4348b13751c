#include "forms.cuh"

__global__ void smooth(const float* in, float* out, unsigned nx, unsigned ny) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;
  unsigned i = y * nx + x;
  out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "unsigned_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      smooth<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
