#include "forms.cuh"

// Radius 2: the block's threads, one behind the other, fetch the tile in as many rounds as it
// takes.
#define R 2
#define BDX 16
#define BDY 16
#define W (BDX + 2 * R)
#define H (BDY + 2 * R)

__global__ void filter5(float* dst, const float* src, int width, int height) {
  __shared__ float s_data[H * W];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  for (int k = t; k < W * H; k += blockDim.x * blockDim.y) {
    int gx = (int)(blockIdx.x * BDX) + k % W - R, gy = (int)(blockIdx.y * BDY) + k / W - R;
    if (gx >= 0 && gy >= 0 && gx < width && gy < height) s_data[k] = src[gy * width + gx];
  }
  __syncthreads();
  int gx = blockIdx.x * BDX + threadIdx.x, gy = blockIdx.y * BDY + threadIdx.y;
  if (gx < R || gy < R || gx >= width - R || gy >= height - R) return;
  float sum = 0.0f;
  for (int dy = 0; dy <= 2 * R; dy++)
    for (int dx = 0; dx <= 2 * R; dx++)
      sum += s_data[(threadIdx.y + dy) * W + threadIdx.x + dx];
  dst[gy * width + gx] = sum * (1.0f / 25);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_i", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(BDX, BDY), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      filter5<<<grid, block>>>(b, a, n, n);
      std::swap(a, b);
    }
  });
}
