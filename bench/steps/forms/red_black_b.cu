#include "forms.cuh"

// Successive over-relaxation of a Poisson problem, one colour after the other.
__global__ void sor(double* phi, const double* rho, int w, int h, double omega, int odd) {
  const int col = threadIdx.x + blockIdx.x * blockDim.x,
            row = threadIdx.y + blockIdx.y * blockDim.y;
  if (col == 0 || row == 0 || col >= w - 1 || row >= h - 1) return;
  if (((col + row) & 1) == odd) {
    const int at = row * w + col;
    const double sum = phi[at - 1] + phi[at + 1] + phi[at - w] + phi[at + w] - rho[at];
    phi[at] = (1 - omega) * phi[at] + omega * 0.25 * sum;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "red_black_b", [](int n, int steps, forms::Arrays& arrays) {
    double *phi = arrays.doubles(size_t(n) * n), *rho = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t)
      for (int odd : {0, 1})
        sor<<<grid, block>>>(phi, rho, n, n, 1.5, odd);
  });
}
