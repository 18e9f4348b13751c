#include "forms.cuh"

#define TILE 16

// The whole tile is filled with indices that are kept inside; the threads share the work.
__global__ void relax(const double* a, double* b, int w, int h) {
  __shared__ double t[TILE + 2][TILE + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x0 = blockIdx.x * TILE - 1, y0 = blockIdx.y * TILE - 1;
  for (int k = ty * TILE + tx; k < (TILE + 2) * (TILE + 2); k += TILE * TILE) {
    int lx = k % (TILE + 2), ly = k / (TILE + 2);
    int gx = min(max(x0 + lx, 0), w - 1), gy = min(max(y0 + ly, 0), h - 1);
    t[ly][lx] = a[gy * w + gx];
  }
  __syncthreads();
  const int x = x0 + 1 + tx, y = y0 + 1 + ty;
  if (x >= w || y >= h) return;
  b[y * w + x] = 0.2 * (t[ty + 1][tx + 1] + t[ty + 1][tx] + t[ty + 1][tx + 2] + t[ty][tx + 1] +
                        t[ty + 2][tx + 1]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_e", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(TILE, TILE), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      relax<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
