#include "cubes.cuh"

// The rim is copied.
__global__ void laplace(int nx, int ny, int nz, const float* __restrict__ d_u1,
                        float* __restrict__ d_u2) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int j = threadIdx.y + blockIdx.y * blockDim.y;
  int k = threadIdx.z + blockIdx.z * blockDim.z;
  int ioff = 1, joff = nx, koff = nx * ny;
  int indg = i + j * joff + k * koff;
  if (i < nx && j < ny && k < nz) {
    float u2;
    if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1)
      u2 = d_u1[indg];
    else
      u2 = (d_u1[indg - ioff] + d_u1[indg + ioff] + d_u1[indg - joff] + d_u1[indg + joff] +
            d_u1[indg - koff] + d_u1[indg + koff]) *
           (1.0f / 6.0f);
    d_u2[indg] = u2;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "rim3d_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    dim3 block(32, 4, 2), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      laplace<<<grid, block>>>(n, n, n, a, b);
      std::swap(a, b);
    }
  });
}
