#include "forms.cuh"

// A branch on data.
__global__ void upwind(const float* q, const float* vel, float* qn, int nx, int ny, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float d;
  if (vel[i] > 1.5f)
    d = q[i] - q[i - 1];
  else
    d = q[i + 1] - q[i];
  qn[i] = q[i] - c * vel[i] * d;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "upwind_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    float* speed = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      upwind<<<grid, block>>>(a, speed, b, n, n, 0.1f);
      std::swap(a, b);
    }
  });
}
