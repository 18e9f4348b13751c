#include "forms.cuh"

__global__ void drift(float* out, const float* in, float c) {
  const unsigned x = threadIdx.x, y = blockIdx.x, nx = blockDim.x, ny = gridDim.x;
  const unsigned west = x == 0 ? nx - 1 : x - 1, south = y == 0 ? ny - 1 : y - 1;
  const float here = in[y * nx + x];
  out[y * nx + x] = here - c * (here - in[y * nx + west]) - c * (here - in[south * nx + x]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "block_rows_b", [](int n, int steps, forms::Arrays& arrays) {
    const int columns = std::min(n, 512);
    float *a = arrays.floats(size_t(n) * columns), *b = arrays.floats(size_t(n) * columns);
    for (int t = 0; t < steps; ++t) {
      drift<<<n, columns>>>(b, a, 0.3f);
      std::swap(a, b);
    }
  });
}
