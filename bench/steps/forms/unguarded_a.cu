#include "forms.cuh"

// A thread for each place of a torus, in one line, without a guard.
__global__ void lapl_iter(float* out, const float* in, float delta, float norm, int Lx, int Ly) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = i % Lx;
  int y = i / Lx;
  int v0p = y * Lx + (x + 1) % Lx, v0m = y * Lx + (Lx + x - 1) % Lx;
  int vp0 = ((y + 1) % Ly) * Lx + x, vm0 = ((Ly + y - 1) % Ly) * Lx + x;
  out[i] = norm * in[i] + delta * (in[v0p] + in[v0m] + in[vp0] + in[vm0]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "unguarded_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    const int threads = n % 32 == 0 ? 256 : n % 8 == 0 ? 200 : n; // as many as places
    for (int t = 0; t < steps; ++t) {
      lapl_iter<<<n * n / threads, threads>>>(b, a, 0.15f, 0.4f, n, n);
      std::swap(a, b);
    }
  });
}
