#include "forms.cuh"

struct particle {
  double re, im;
};

// The parts of a complex number one after the other, and no __restrict__.
__global__ void evolve(particle* next, particle* now, size_t w, size_t h, double dt) {
  size_t col = threadIdx.x + size_t(blockDim.x) * blockIdx.x;
  size_t row = threadIdx.y + size_t(blockDim.y) * blockIdx.y;
  if (col == 0 || row == 0 || col + 1 >= w || row + 1 >= h) return;
  const size_t at = row * w + col;
  next[at].re = now[at].re - dt * (now[at - 1].im + now[at + 1].im - 2 * now[at].im);
  next[at].im = now[at].im + dt * (now[at - w].re + now[at + w].re - 2 * now[at].re);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "structure_b", [](int n, int steps, forms::Arrays& arrays) {
    auto *a = reinterpret_cast<particle*>(arrays.doubles(2 * size_t(n) * n)),
         *b = reinterpret_cast<particle*>(arrays.doubles(2 * size_t(n) * n));
    dim3 block(16, 16), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      evolve<<<grid, block>>>(b, a, n, n, 0.1);
      std::swap(a, b);
    }
  });
}
