#include "forms.cuh"

__global__ void advect(const float* __restrict__ c, float* __restrict__ o,
                       const float* __restrict__ us, const float* __restrict__ vs, int nx, int ny,
                       float dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float fx, fy, u = us[i] - 1.5f, v = vs[i] - 1.5f;
  if (u > 0)
    fx = u * (c[i] - c[i - 1]);
  else
    fx = u * (c[i + 1] - c[i]);
  if (v > 0)
    fy = v * (c[i] - c[i - nx]);
  else
    fy = v * (c[i + nx] - c[i]);
  o[i] = c[i] - dt * (fx + fy);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "upwind_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    float *u = arrays.floats(size_t(n) * n), *v = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      advect<<<grid, block>>>(a, b, u, v, n, n, 0.4f);
      std::swap(a, b);
    }
  });
}
