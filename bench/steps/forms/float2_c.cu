#include "forms.cuh"

// Of neighbours one part alone is read.
__global__ void oscillate(float2* __restrict__ next, const float2* __restrict__ z, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x > w - 2 || y > h - 2) return;
  int i = x + y * w;
  float2 here = z[i];
  float around = z[i - 1].y + z[i + 1].x + z[i - w].y + z[i + w].x;
  next[i] = make_float2(0.9f * here.x + 0.02f * around, 0.9f * here.y - 0.02f * around);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "float2_c", [](int n, int steps, forms::Arrays& arrays) {
    auto *a = reinterpret_cast<float2*>(arrays.floats(2 * size_t(n) * n)),
         *b = reinterpret_cast<float2*>(arrays.floats(2 * size_t(n) * n));
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      oscillate<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
