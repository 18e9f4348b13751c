#include "forms.cuh"

// Of the days when products of 24 bits were the fast ones; the place itself is taken modulo the
// size of the whole array.
__global__ void cells(const unsigned char* from, unsigned char* to, int w, int h) {
  int id = __mul24(blockIdx.x, blockDim.x) + threadIdx.x, size = w * h;
  if (id >= size) return;
  int c = id % w, l = c == 0 ? w - 1 : -1, r = c == w - 1 ? 1 - w : 1;
  int up = (id + size - w) % size, down = (id + w) % size;
  int n = from[up] + from[down] + from[id + l] + from[id + r];
  to[id] = n == 2 || n == 3 ? 1 : from[id] & (n & 1);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "line_torus_b", [](int n, int steps, forms::Arrays& arrays) {
    unsigned char *a = arrays.bytes(size_t(n) * n), *b = arrays.bytes(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      cells<<<(n * n + 255) / 256, 256>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
