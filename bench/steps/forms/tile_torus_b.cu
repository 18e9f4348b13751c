#include "forms.cuh"

// A tile with its halo, around a torus.
#define SIDE 16
__global__ void wrap(const float* in, float* out, int n, float c) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = in[(y % n) * n + x % n];
  if (threadIdx.y == 0) tile[0][tx] = in[((y - 1 + n) % n) * n + x % n];
  if (threadIdx.y == SIDE - 1) tile[SIDE + 1][tx] = in[((y + 1) % n) * n + x % n];
  if (threadIdx.x == 0) tile[ty][0] = in[(y % n) * n + (x - 1 + n) % n];
  if (threadIdx.x == SIDE - 1) tile[ty][SIDE + 1] = in[(y % n) * n + (x + 1) % n];
  __syncthreads();
  if (x >= n || y >= n) return;
  out[y * n + x] = (1 - 4 * c) * tile[ty][tx] +
                   c * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_torus_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    const dim3 block(SIDE, SIDE), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      wrap<<<grid, block>>>(a, b, n, 0.1f);
      std::swap(a, b);
    }
  });
}
