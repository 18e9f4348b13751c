#include "cubes.cuh"

#define AT(u, i, j, k) (u)[((size_t)(k)*ny + (j)) * nx + (i)]

// 27 points, one block for each plane of places that are stepped.
__global__ void smooth(const float* __restrict__ u, float* __restrict__ v, int nx, int ny, int nz) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const int j = threadIdx.y + blockIdx.y * blockDim.y;
  const int k = blockIdx.z;
  if (i < 1 || i > nx - 2) return;
  if (j < 1 || j > ny - 2) return;
  if (k < 1 || k > nz - 2) return;
  float sum = 0;
#pragma unroll
  for (int c = -1; c <= 1; ++c)
#pragma unroll
    for (int b = -1; b <= 1; ++b)
#pragma unroll
      for (int a = -1; a <= 1; ++a)
        sum += AT(u, i + a, j + b, k + c) * (a == 0 && b == 0 && c == 0 ? 0.48f : 0.02f);
  AT(v, i, j, k) = sum;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "box3d_b", [](int n, int steps, forms::Arrays& arrays) {
    float* u[2] = {arrays.floats(cubes::places(n)), arrays.floats(cubes::places(n))};
    const dim3 block(64, 4), grid((n + 63) / 64, (n + 3) / 4, n);
    for (int t = 0; t < steps; ++t)
      smooth<<<grid, block>>>(u[t % 2], u[1 - t % 2], n, n, n);
  });
}
