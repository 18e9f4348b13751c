#include "forms.cuh"

// A body that is handed to a launcher of everything.
template <class Body> __global__ void for_each(int nx, int ny, Body body) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) body(i, j);
}
struct Relax {
  const double* from;
  double* to;
  int nx, ny;
  double omega;
  __device__ void operator()(int i, int j) const {
    if (i == 0 || j == 0 || i == nx - 1 || j == ny - 1) return;
    const int at = i + j * nx;
    to[at] = (1 - omega) * from[at] +
             0.25 * omega * (from[at - 1] + from[at + 1] + from[at - nx] + from[at + nx]);
  }
};

int main(int argc, char** argv) {
  return forms::run(argc, argv, "lambda_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      for_each<<<grid, block>>>(n, n, Relax{a, b, n, n, 0.9});
      std::swap(a, b);
    }
  });
}
