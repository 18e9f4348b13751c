#include "cubes.cuh"

// Poisson's equation by Jacobi's iteration: a right-hand side that stays as it is.
__global__ void jacobi(const float* __restrict__ u, const float* __restrict__ f,
                       float* __restrict__ next, int nx, int ny, int nz, float hh) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1 || z < 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  next[i] =
      (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny] - hh * f[i]) *
      (1.0f / 6.0f);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "source3d_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n)),
          *f = arrays.floats(cubes::places(n));
    dim3 block(32, 4, 2), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      jacobi<<<grid, block>>>(a, f, b, n, n, n, 0.01f);
      std::swap(a, b);
    }
  });
}
