#include "forms.cuh"

__global__ void mix(float4* __restrict__ to, const float4* __restrict__ from, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x <= 0 || y <= 0 || x >= w - 1 || y >= h - 1) return;
  float4 a = from[y * w + x - 1], b = from[y * w + x + 1], c = from[(y - 1) * w + x],
         d = from[(y + 1) * w + x];
  to[y * w + x] = make_float4(0.25f * (a.x + b.x + c.x + d.x), 0.25f * (a.y + b.y + c.y + d.y),
                              0.25f * (a.z + b.z + c.z + d.z), 0.25f * (a.w + b.w + c.w + d.w));
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "float4_b", [](int n, int steps, forms::Arrays& arrays) {
    auto *a = reinterpret_cast<float4*>(arrays.floats(4 * size_t(n) * n)),
         *b = reinterpret_cast<float4*>(arrays.floats(4 * size_t(n) * n));
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      mix<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
