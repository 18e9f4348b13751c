#include "cubes.cuh"

// 7 points of f64, rows with an index each.
__global__ void diffuse(const double* __restrict__ f, double* __restrict__ fn, int nx, int ny,
                        int nz, double cc, double ca) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y,
            k = blockDim.z * blockIdx.z + threadIdx.z;
  if (i == 0 || j == 0 || k == 0 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
  const int c = i + nx * (j + ny * k), w = c - 1, e = c + 1, s = c - nx, n = c + nx,
            b = c - nx * ny, t = c + nx * ny;
  fn[c] = cc * f[c] + ca * (f[w] + f[e]) + ca * (f[s] + f[n]) + ca * (f[b] + f[t]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "heat3d_d", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(cubes::places(n)), *b = arrays.doubles(cubes::places(n));
    const dim3 block(64, 4, 1), grid = cubes::cover(n, n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(a, b, n, n, n, 0.4, 0.1);
      std::swap(a, b);
    }
  });
}
