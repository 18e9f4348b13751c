#include "cubes.cuh"

// The same with the planes below and above kept in registers.
template <typename T> __global__ void relax(const T* __restrict__ u, T* __restrict__ next, int n) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const int plane = n * n;
  int at = y * n + x;
  T below = u[at], here = u[at + plane];
  for (int z = 1; z < n - 1; ++z) {
    at += plane;
    const T above = u[at + plane];
    next[at] =
        T(0.4) * here + T(0.1) * (below + above + u[at - 1] + u[at + 1] + u[at - n] + u[at + n]);
    below = here;
    here = above;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march3d_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(cubes::places(n)), *b = arrays.floats(cubes::places(n));
    dim3 block(16, 16), grid = cubes::cover(n, n, 1, block);
    for (int t = 0; t < steps; ++t) {
      relax<<<grid, block>>>(a, b, n);
      std::swap(a, b);
    }
  });
}
