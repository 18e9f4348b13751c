#include "cubes.cuh"

// 7 points, inside a rim that is asked for in one condition.
__global__ void heat(const float* in, float* out, int nx, int ny, int nz, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
    int i = (z * ny + y) * nx + x;
    out[i] = in[i] + c * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
                          in[i + nx * ny] - 6.0f * in[i]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "heat3d_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    dim3 block(32, 4, 2), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      heat<<<grid, block>>>(a, b, n, n, n, 0.1f);
      std::swap(a, b);
    }
  });
}
