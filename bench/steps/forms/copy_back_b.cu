#include "forms.cuh"

// The whole array is copied, by threads in a row.
__global__ void diffuse(const double* __restrict__ u, double* __restrict__ w, int nx, int ny,
                        double c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1) return;
  const int at = x + y * nx;
  w[at] = u[at] + c * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] - 4.0 * u[at]);
}

__global__ void copy(double* __restrict__ to, const double* __restrict__ from, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "copy_back_b", [](int n, int steps, forms::Arrays& arrays) {
    double *u = arrays.doubles(size_t(n) * n), *w = arrays.doubles(size_t(n) * n);
    const dim3 block(16, 16);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<forms::cover(n, n, block), block>>>(u, w, n, n, 0.2);
      copy<<<(n * n + 255) / 256, 256>>>(u, w, n * n);
    }
  });
}
