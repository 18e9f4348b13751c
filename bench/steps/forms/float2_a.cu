#include "forms.cuh"

__global__ void react(const float2* in, float2* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float2 c = in[i], l = in[i - 1], r = in[i + 1], u = in[i - nx], d = in[i + nx];
  float a = l.x + r.x + u.x + d.x - 4 * c.x, b = l.y + r.y + u.y + d.y - 4 * c.y;
  float w = c.x * c.y * c.y;
  out[i] = make_float2(c.x + 0.1f * a - w + 0.03f * (1 - c.x), c.y + 0.05f * b + w - 0.09f * c.y);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "float2_a", [](int n, int steps, forms::Arrays& arrays) {
    auto *a = reinterpret_cast<float2*>(arrays.floats(2 * size_t(n) * n)),
         *b = reinterpret_cast<float2*>(arrays.floats(2 * size_t(n) * n));
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      react<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
