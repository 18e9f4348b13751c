#include "forms.cuh"

struct Params {
  int nx, ny;
  float alpha, dt;
};
__global__ void update(float* unew, const float* u, const Params p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i > p.nx - 2 || j > p.ny - 2) return;
  int c = j * p.nx + i;
  unew[c] = u[c] + p.alpha * p.dt * (u[c - 1] + u[c + 1] + u[c - p.nx] + u[c + p.nx] - 4 * u[c]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "struct_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      update<<<grid, block>>>(b, a, Params{n, n, 0.5f, 0.2f});
      std::swap(a, b);
    }
  });
}
