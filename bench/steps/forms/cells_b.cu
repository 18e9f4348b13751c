#include "forms.cuh"

enum Cell : int { Fluid = 0, Wall = 1 };

__global__ void diffuse(int nx, int ny, const double* T, double* Tn, const int* type,
                        double kappa) {
  const int gi = threadIdx.x + blockIdx.x * blockDim.x;
  const int gj = threadIdx.y + blockIdx.y * blockDim.y;
  if (gi >= nx || gj >= ny) return;
  const int id = gi + gj * nx;
  switch (type[id]) {
  case Wall: Tn[id] = T[id]; break;
  default: {
    double lap = -4 * T[id];
    lap += gi > 0 ? T[id - 1] : T[id];
    lap += gi < nx - 1 ? T[id + 1] : T[id];
    lap += gj > 0 ? T[id - nx] : T[id];
    lap += gj < ny - 1 ? T[id + nx] : T[id];
    Tn[id] = T[id] + kappa * lap;
  }
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "cells_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    int* type = arrays.flags(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(n, n, a, b, type, 0.2);
      std::swap(a, b);
    }
  });
}
