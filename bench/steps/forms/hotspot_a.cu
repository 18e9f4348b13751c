#include "forms.cuh"

// Rodinia's hotspot without its tile.
__global__ void hotspot(const float* power, const float* src, float* dst, int cols, int rows,
                        float rx, float ry, float rz, float step) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= cols || r >= rows) return;
  int at = r * cols + c;
  int W = c == 0 ? 0 : c - 1, E = c == cols - 1 ? cols - 1 : c + 1;
  int N = r == 0 ? 0 : r - 1, S = r == rows - 1 ? rows - 1 : r + 1;
  dst[at] =
      src[at] + step * (power[at] + (src[S * cols + c] + src[N * cols + c] - 2.f * src[at]) * ry +
                        (src[r * cols + E] + src[r * cols + W] - 2.f * src[at]) * rx +
                        (80.0f - src[at]) * rz);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "hotspot_a", [](int n, int steps, forms::Arrays& arrays) {
    float *power = arrays.floats(size_t(n) * n), *a = arrays.floats(size_t(n) * n),
          *b = arrays.floats(size_t(n) * n);
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      hotspot<<<grid, block>>>(power, a, b, n, n, 0.1f, 0.1f, 0.001f, 0.5f);
      std::swap(a, b);
    }
  });
}
