#include "forms.cuh"

// Life in one line of threads, of a size that is a number of the program.
template <int N> __global__ void life(const unsigned char* now, unsigned char* next) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= N * N) return;
  int x = id % N, y = id / N;
  int l = (x + N - 1) % N, r = (x + 1) % N, u = (y + N - 1) % N * N, d = (y + 1) % N * N;
  int c = now[u + l] + now[u + x] + now[u + r] + now[y * N + l] + now[y * N + r] + now[d + l] +
          now[d + x] + now[d + r];
  next[id] = c == 3 || (c == 2 && now[id]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "written_size_a", [](int n, int steps, forms::Arrays& arrays) {
    unsigned char *a = arrays.bytes(size_t(n) * n), *b = arrays.bytes(size_t(n) * n);
    forms::with_size(n, [&](auto size) {
      constexpr int N = size.value;
      for (int t = 0; t < steps; ++t) {
        life<N><<<(N * N + 255) / 256, 256>>>(a, b);
        std::swap(a, b);
      }
    });
  });
}
