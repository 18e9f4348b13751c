#include "forms.cuh"

#define N 16

// Two tiles: temperatures with their halo, and what heats each place.
__global__ void hot(const float* power, const float* from, float* to, int cols, int rows) {
  __shared__ float temp[N + 2][N + 2];
  __shared__ float heated[N][N];
  unsigned tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * N + tx, y = blockIdx.y * N + ty;
  if (x >= cols || y >= rows) return;
  size_t i = size_t(y) * cols + x;
  heated[ty][tx] = power[i];
  temp[ty + 1][tx + 1] = from[i];
  if (tx == 0) temp[ty + 1][0] = from[x > 0 ? i - 1 : i];
  if (tx == N - 1 || x == cols - 1) temp[ty + 1][tx + 2] = from[x < cols - 1 ? i + 1 : i];
  if (ty == 0) temp[0][tx + 1] = from[y > 0 ? i - cols : i];
  if (ty == N - 1 || y == rows - 1) temp[ty + 2][tx + 1] = from[y < rows - 1 ? i + cols : i];
  __syncthreads();
  float t = temp[ty + 1][tx + 1];
  to[i] = t + 0.1f * (heated[ty][tx] + temp[ty + 1][tx] + temp[ty + 1][tx + 2] + temp[ty][tx + 1] +
                      temp[ty + 2][tx + 1] - 4.0f * t);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_g", [](int n, int steps, forms::Arrays& arrays) {
    float *power = arrays.floats(size_t(n) * n), *a = arrays.floats(size_t(n) * n),
          *b = arrays.floats(size_t(n) * n);
    dim3 block(N, N), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      hot<<<grid, block>>>(power, a, b, n, n);
      std::swap(a, b);
    }
  });
}
