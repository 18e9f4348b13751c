#include "forms.cuh"

// Two loops over all places, as a library that is called with any grid has them; here there is a
// thread for each.
__global__ void relax(const double* __restrict__ f, double* __restrict__ g, int nx, int ny) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i < nx - 1; i += blockDim.x * gridDim.x)
#pragma unroll 4
    for (int j = blockIdx.y * blockDim.y + threadIdx.y + 1; j < ny - 1; j += blockDim.y * gridDim.y)
      g[j * nx + i] = 0.25 * (f[j * nx + i - 1] + f[j * nx + i + 1] + f[(j - 1) * nx + i] +
                              f[(j + 1) * nx + i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "gridstride_d", [](int n, int steps, forms::Arrays& arrays) {
    double *u = arrays.doubles(size_t(n) * n), *v = arrays.doubles(size_t(n) * n);
    dim3 block(64, 4), grid((n + 63) / 64, (n + 3) / 4);
    for (int t = 0; t < steps; ++t) {
      relax<<<grid, block>>>(u, v, n, n);
      std::swap(u, v);
    }
  });
}
