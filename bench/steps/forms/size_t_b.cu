#include "forms.cuh"

__global__ void smooth(float* dst, const float* src, const size_t width, const size_t height) {
  const size_t col = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t row = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
  if (col >= width || row >= height) return;
  const size_t id = row * width + col;
  if (col > 0 && row > 0 && col < width - 1 && row < height - 1)
    dst[id] = (src[id - 1] + src[id + 1] + src[id - width] + src[id + width]) * 0.25f;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "size_t_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      smooth<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
