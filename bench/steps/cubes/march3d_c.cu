#include "cubes.cuh"

// Columns of planes, with a rim that is copied.
__global__ void laplace(int nx, int ny, int nz, const float* d_u1, float* d_u2) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int j = threadIdx.y + blockIdx.y * blockDim.y;
  int indg = i + j * nx;
  if (i <= nx - 1 && j <= ny - 1) {
    for (int k = 0; k < nz; k++) {
      float u2;
      if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1) {
        u2 = d_u1[indg];
      } else {
        u2 = (d_u1[indg - 1] + d_u1[indg + 1] + d_u1[indg - nx] + d_u1[indg + nx] +
              d_u1[indg - nx * ny] + d_u1[indg + nx * ny]) *
             (1.0f / 6.0f);
      }
      d_u2[indg] = u2;
      indg += nx * ny;
    }
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march3d_c", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    dim3 block(32, 4), grid = cubes::cover(n, n, 1, block);
    for (int t = 0; t < steps; ++t) {
      laplace<<<grid, block>>>(n, n, n, a, b);
      std::swap(a, b);
    }
  });
}
