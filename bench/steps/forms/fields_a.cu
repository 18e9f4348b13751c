#include "forms.cuh"

struct Field {
  float* data;
  int w, h;
};
__global__ void evolve(Field from, Field to, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= from.w - 1 || y >= from.h - 1) return;
  int i = y * from.w + x;
  const float* u = from.data;
  to.data[i] = u[i] + k * (u[i - 1] + u[i + 1] + u[i - from.w] + u[i + from.w] - 4 * u[i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "fields_a", [](int n, int steps, forms::Arrays& arrays) {
    Field a{arrays.floats(size_t(n) * n), n, n}, b{arrays.floats(size_t(n) * n), n, n};
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      evolve<<<grid, block>>>(a, b, 0.1f);
      std::swap(a, b);
    }
  });
}
