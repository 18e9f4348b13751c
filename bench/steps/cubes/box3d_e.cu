#include "cubes.cuh"

// 27 points of f64, summed up by how far they are.
__global__ void box(double* in, double* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  double sums[4] = {0, 0, 0, 0};
#pragma unroll
  for (int d = 0; d < 27; ++d) {
    int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
    sums[(dx != 0) + (dy != 0) + (dz != 0)] += in[((z + dz) * ny + y + dy) * nx + x + dx];
  }
  out[(z * ny + y) * nx + x] = 0.4 * sums[0] + 0.05 * sums[1] + 0.02 * sums[2] + 0.0075 * sums[3];
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "box3d_e", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(cubes::places(n)), *b = arrays.doubles(cubes::places(n));
    dim3 block(32, 4, 2), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      box<<<grid, block>>>(a, b, n, n, n);
      std::swap(a, b);
    }
  });
}
