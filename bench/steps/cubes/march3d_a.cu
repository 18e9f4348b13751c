#include "cubes.cuh"

// A thread for each column of planes, which goes through all of them; nvcc unrolls that.
#define INDEX(x, y, z) ((x) + nx * ((y) + ny * (z)))
__global__ void columns(float c0, float c1, const float* A0, float* Anext, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1)
    for (int k = 1; k < nz - 1; k++)
      Anext[INDEX(i, j, k)] =
          (A0[INDEX(i, j, k + 1)] + A0[INDEX(i, j, k - 1)] + A0[INDEX(i, j + 1, k)] +
           A0[INDEX(i, j - 1, k)] + A0[INDEX(i + 1, j, k)] + A0[INDEX(i - 1, j, k)]) *
              c1 -
          A0[INDEX(i, j, k)] * c0;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march3d_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    dim3 block(32, 8), grid = cubes::cover(n, n, 1, block);
    for (int t = 0; t < steps; ++t) {
      columns<<<grid, block>>>(-0.25f, 0.125f, a, b, n, n, n);
      std::swap(a, b);
    }
  });
}
