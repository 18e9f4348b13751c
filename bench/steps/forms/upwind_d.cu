#include "forms.cuh"

// Around a torus along x.
__global__ void advect(const double* c, double* o, int nx, int ny, const double* u, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int xm = x == 0 ? nx - 1 : x - 1, xp = x == nx - 1 ? 0 : x + 1;
  double w = u[y * nx + x] - 1.5;
  double f = w > 0 ? c[y * nx + x] - c[y * nx + xm] : c[y * nx + xp] - c[y * nx + x];
  o[y * nx + x] = c[y * nx + x] - dt * w * f;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "upwind_d", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    double* u = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      advect<<<grid, block>>>(a, b, n, n, u, 0.4);
      std::swap(a, b);
    }
  });
}
