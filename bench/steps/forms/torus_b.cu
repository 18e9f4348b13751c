#include "forms.cuh"

__global__ void advect(const float* __restrict__ q, float* __restrict__ qn, int n, float cx,
                       float cy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const int im = i == 0 ? n - 1 : i - 1, ip = i == n - 1 ? 0 : i + 1;
  const int jm = j == 0 ? n - 1 : j - 1, jp = j == n - 1 ? 0 : j + 1;
  qn[j * n + i] =
      q[j * n + i] - cx * (q[j * n + ip] - q[j * n + im]) - cy * (q[jp * n + i] - q[jm * n + i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "torus_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      advect<<<grid, block>>>(a, b, n, 0.01f, 0.02f);
      std::swap(a, b);
    }
  });
}
