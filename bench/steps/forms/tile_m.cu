#include "forms.cuh"

// Life around a torus, with a tile that threads fill in loops over its rows and columns.
#define SIDE 16
__global__ void live(const unsigned char* in, unsigned char* out, int w, int h) {
  __shared__ unsigned char tile[SIDE + 2][SIDE + 2];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  for (int j = threadIdx.y; j < SIDE + 2; j += SIDE)
    for (int i = threadIdx.x; i < SIDE + 2; i += SIDE) {
      const int from_x = (blockIdx.x * SIDE + i - 1 + w) % w;
      const int from_y = (blockIdx.y * SIDE + j - 1 + h) % h;
      tile[j][i] = in[from_y * w + from_x];
    }
  __syncthreads();
  if (x >= w || y >= h) return;
  const int a = threadIdx.x + 1, b = threadIdx.y + 1;
  const int near = tile[b - 1][a - 1] + tile[b - 1][a] + tile[b - 1][a + 1] + tile[b][a - 1] +
                   tile[b][a + 1] + tile[b + 1][a - 1] + tile[b + 1][a] + tile[b + 1][a + 1];
  out[y * w + x] = near == 3 || (near == 2 && tile[b][a]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_m", [](int n, int steps, forms::Arrays& arrays) {
    unsigned char *in = arrays.bytes(size_t(n) * n), *out = arrays.bytes(size_t(n) * n);
    const dim3 block(SIDE, SIDE), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      live<<<grid, block>>>(in, out, n, n);
      std::swap(in, out);
    }
  });
}
