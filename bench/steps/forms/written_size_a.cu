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

template <int N> void step(const unsigned char* a, unsigned char* b) {
  life<N><<<(N * N + 255) / 256, 256>>>(a, b);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "written_size_a", [](int n, int steps, forms::Arrays& arrays) {
    unsigned char *a = arrays.bytes(size_t(n) * n), *b = arrays.bytes(size_t(n) * n);
    const auto one = n == 256    ? step<256>
                     : n == 257  ? step<257>
                     : n == 1000 ? step<1000>
                     : n == 1024 ? step<1024>
                     : n == 2047 ? step<2047>
                     : n == 2048 ? step<2048>
                                 : step<4096>;
    for (int t = 0; t < steps; ++t) {
      one(a, b);
      std::swap(a, b);
    }
  });
}
