#include "forms.cuh"

#define BLOCK_SIZE 256
#define RADIUS 3
__global__ void stencil_1d(float* in, float* out, int n) {
  __shared__ float temp[BLOCK_SIZE + 2 * RADIUS];
  int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS;
  int lindex = threadIdx.x + RADIUS;
  temp[lindex] = in[gindex];
  if (threadIdx.x < RADIUS) {
    temp[lindex - RADIUS] = in[gindex - RADIUS];
    temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
  }
  __syncthreads();
  float result = 0;
  for (int offset = -RADIUS; offset <= RADIUS; offset++)
    result += temp[lindex + offset];
  out[gindex] = result / 7;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n + 2 * RADIUS + BLOCK_SIZE),
          *b = arrays.floats(size_t(n) * n + 2 * RADIUS + BLOCK_SIZE);
    dim3 block(BLOCK_SIZE), grid = dim3((n * n + 255) / 256);
    for (int t = 0; t < steps; ++t) {
      stencil_1d<<<grid, block>>>(a, b, n * n);
      std::swap(a, b);
    }
  });
}
