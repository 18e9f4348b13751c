#include "forms.cuh"

#define BLOCK_X 32
#define BLOCK_Y 16

// Neumann: at the rim the neighbour is the place itself.
__global__ void heat(const float* in, float* out, int width, int height, float k) {
  __shared__ float tile[BLOCK_Y + 2][BLOCK_X + 2];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
  bool inside = x < width && y < height;
  if (inside) {
    tile[sy][sx] = in[y * width + x];
    if (threadIdx.x == 0) tile[sy][0] = in[y * width + max(x - 1, 0)];
    if (threadIdx.x == BLOCK_X - 1 || x == width - 1)
      tile[sy][sx + 1] = in[y * width + min(x + 1, width - 1)];
    if (threadIdx.y == 0) tile[0][sx] = in[max(y - 1, 0) * width + x];
    if (threadIdx.y == BLOCK_Y - 1 || y == height - 1)
      tile[sy + 1][sx] = in[min(y + 1, height - 1) * width + x];
  }
  __syncthreads();
  if (!inside) return;
  float c = tile[sy][sx];
  out[y * width + x] =
      c + k * (tile[sy][sx - 1] + tile[sy][sx + 1] + tile[sy - 1][sx] + tile[sy + 1][sx] - 4 * c);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_f", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(BLOCK_X, BLOCK_Y), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      heat<<<grid, block>>>(a, b, n, n, 0.2f);
      std::swap(a, b);
    }
  });
}
