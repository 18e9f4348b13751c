#include "forms.cuh"

// What was computed last is copied ahead of each step.
__global__ void keep(float* old, const float* now, int nx, int ny) {
  int x = threadIdx.x + blockIdx.x * blockDim.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x < nx && y < ny) old[x + nx * y] = now[x + nx * y];
}

__global__ void smooth(const float* old, float* now, int nx, int ny) {
  int x = threadIdx.x + blockIdx.x * blockDim.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) {
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++)
        sum += old[x + dx + nx * (y + dy)];
    now[x + nx * y] = sum / 9;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "copy_first_a", [](int n, int steps, forms::Arrays& arrays) {
    float *old = arrays.floats(size_t(n) * n), *now = arrays.floats(size_t(n) * n);
    dim3 block(32, 4), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      keep<<<grid, block>>>(old, now, n, n);
      smooth<<<grid, block>>>(old, now, n, n);
    }
  });
}
