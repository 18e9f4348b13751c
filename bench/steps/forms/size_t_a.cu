#include "forms.cuh"

__global__ void smooth(const float* in, float* out, size_t nx, size_t ny) {
  size_t x = blockIdx.x * blockDim.x + threadIdx.x;
  size_t y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  out[y * nx + x] = 0.2f * (in[y * nx + x] + in[y * nx + x - 1] + in[y * nx + x + 1] +
                            in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "size_t_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      smooth<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
