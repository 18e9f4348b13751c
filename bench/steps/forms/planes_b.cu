#include "forms.cuh"

#define H 0
#define HU 1
#define HV 2
#define AT(a, k, j, i) a[((k)*ny + (j)) * nx + (i)]

// Shallow water by Lax-Friedrichs; walls are copied.
__global__ void sweep(const double* __restrict__ q, double* __restrict__ r, int nx, int ny,
                      double c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  if (i == 0 || j == 0 || i == nx - 1 || j == ny - 1) {
    for (int k = 0; k < 3; ++k)
      AT(r, k, j, i) = AT(q, k, j, i);
    return;
  }
  double h =
      0.25 * (AT(q, H, j, i - 1) + AT(q, H, j, i + 1) + AT(q, H, j - 1, i) + AT(q, H, j + 1, i));
  AT(r, H, j, i) = h - c * (AT(q, HU, j, i + 1) - AT(q, HU, j, i - 1)) -
                   c * (AT(q, HV, j + 1, i) - AT(q, HV, j - 1, i));
  AT(r, HU, j, i) = AT(q, HU, j, i) - c * h * (AT(q, H, j, i + 1) - AT(q, H, j, i - 1));
  AT(r, HV, j, i) = AT(q, HV, j, i) - c * h * (AT(q, H, j + 1, i) - AT(q, H, j - 1, i));
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "planes_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(3 * size_t(n) * n), *b = arrays.doubles(3 * size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      sweep<<<grid, block>>>(a, b, n, n, 0.05);
      std::swap(a, b);
    }
  });
}
