#include "forms.cuh"

// Neighbours by branches, a register for each.
__global__ void image(const float* in, float* out, unsigned int w, unsigned int h) {
  unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float left = 0, right = 0, up = 0, down = 0;
  if (x > 0) left = in[y * w + x - 1];
  if (x + 1 < w) right = in[y * w + x + 1];
  if (y > 0) up = in[(y - 1) * w + x];
  if (y + 1 < h) down = in[(y + 1) * w + x];
  out[y * w + x] = 0.2f * (in[y * w + x] + left + right + up + down);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "clamp_loads_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      image<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
