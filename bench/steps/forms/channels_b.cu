#include "forms.cuh"

// A picture of three bytes a pixel, with the nearest pixel beside its rim.
__global__ void soften(const unsigned char* from, unsigned char* to, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int left = max(x - 1, 0), right = min(x + 1, w - 1), above = max(y - 1, 0),
      below = min(y + 1, h - 1);
  for (int c = 0; c < 3; ++c)
    to[(y * w + x) * 3 + c] = (from[(y * w + left) * 3 + c] + from[(y * w + right) * 3 + c] +
                               from[(above * w + x) * 3 + c] + from[(below * w + x) * 3 + c]) /
                              4;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "channels_b", [](int n, int steps, forms::Arrays& arrays) {
    unsigned char *a = arrays.bytes(3 * size_t(n) * n), *b = arrays.bytes(3 * size_t(n) * n);
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      soften<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
