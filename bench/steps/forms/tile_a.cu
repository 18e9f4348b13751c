#include "forms.cuh"

#define B 16
__global__ void jacobi_tile(const float* in, float* out, int n) {
  __shared__ float s[B + 2][B + 2];
  int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  if (x < n && y < n) {
    s[ty][tx] = in[y * n + x];
    if (threadIdx.x == 0 && x > 0) s[ty][0] = in[y * n + x - 1];
    if (threadIdx.x == B - 1 && x < n - 1) s[ty][B + 1] = in[y * n + x + 1];
    if (threadIdx.y == 0 && y > 0) s[0][tx] = in[(y - 1) * n + x];
    if (threadIdx.y == B - 1 && y < n - 1) s[B + 1][tx] = in[(y + 1) * n + x];
  }
  __syncthreads();
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      jacobi_tile<<<grid, block>>>(a, b, n);
      std::swap(a, b);
    }
  });
}
