#include "forms.cuh"

__global__ void life(const unsigned char* cells, unsigned char* next, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int l = (x + w - 1) % w, r = (x + 1) % w, u = (y + h - 1) % h, d = (y + 1) % h;
  int alive = cells[u * w + l] + cells[u * w + x] + cells[u * w + r] + cells[y * w + l] +
              cells[y * w + r] + cells[d * w + l] + cells[d * w + x] + cells[d * w + r];
  next[y * w + x] = alive == 3 || (alive == 2 && cells[y * w + x]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "torus_a", [](int n, int steps, forms::Arrays& arrays) {
    unsigned char *a = arrays.bytes(size_t(n) * n), *b = arrays.bytes(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      life<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
