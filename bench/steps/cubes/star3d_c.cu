#include "cubes.cuh"

// 13 points: two on either side along each axis.
__global__ void star(float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 2, y = blockIdx.y * blockDim.y + threadIdx.y + 2,
      z = blockIdx.z * blockDim.z + threadIdx.z + 2;
  if (x >= n - 2 || y >= n - 2 || z >= n - 2) return;
  int row = n, plane = n * n;
  float* p = in + z * plane + y * row + x;
  float near = p[-1] + p[1] + p[-row] + p[row] + p[-plane] + p[plane];
  float far = p[-2] + p[2] + p[-2 * row] + p[2 * row] + p[-2 * plane] + p[2 * plane];
  out[z * plane + y * row + x] = 0.25f * p[0] + 0.1f * near + 0.025f * far;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "star3d_c", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    dim3 block(32, 8), grid = cubes::cover(n - 4, n - 4, n - 4, block);
    for (int t = 0; t < steps; ++t) {
      star<<<grid, block>>>(a, b, n);
      std::swap(a, b);
    }
  });
}
