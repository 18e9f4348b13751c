#include "forms.cuh"

struct State {
  const double* u;
  double* u_new;
  int n;
  double r;
};
__global__ void ftcs(State s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && i < s.n - 1 && j > 0 && j < s.n - 1) {
    int k = i * s.n + j;
    s.u_new[k] =
        s.u[k] + s.r * (s.u[k + 1] + s.u[k - 1] + s.u[k + s.n] + s.u[k - s.n] - 4 * s.u[k]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "fields_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      ftcs<<<grid, block>>>(State{a, b, n, 0.2});
      std::swap(a, b);
    }
  });
}
