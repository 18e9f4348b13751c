#include "forms.cuh"

// The rim is copied out of the tile: threads there read less of it than all others.
#define SIDE 16
__global__ void relax(const float* in, float* out, int nx, int ny) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  if (x < nx && y < ny) {
    tile[ty][tx] = in[y * nx + x];
    if (threadIdx.x == 0 && x > 0) tile[ty][0] = in[y * nx + x - 1];
    if (threadIdx.x == SIDE - 1 && x < nx - 1) tile[ty][SIDE + 1] = in[y * nx + x + 1];
    if (threadIdx.y == 0 && y > 0) tile[0][tx] = in[(y - 1) * nx + x];
    if (threadIdx.y == SIDE - 1 && y < ny - 1) tile[SIDE + 1][tx] = in[(y + 1) * nx + x];
  }
  __syncthreads();
  if (x >= nx || y >= ny) return;
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1)
    out[y * nx + x] = tile[ty][tx];
  else
    out[y * nx + x] =
        0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_k", [](int n, int steps, forms::Arrays& arrays) {
    float *in = arrays.floats(size_t(n) * n), *out = arrays.floats(size_t(n) * n);
    const dim3 block(SIDE, SIDE), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      relax<<<grid, block>>>(in, out, n, n);
      std::swap(in, out);
    }
  });
}
