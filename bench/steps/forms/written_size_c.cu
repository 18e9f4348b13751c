#include "forms.cuh"

// A line of threads over places of a size that is written here, with a rim that is stored, too.
template <int SIZE> __global__ void next_of(const bool* now, bool* next) {
  const int first = threadIdx.x + blockIdx.x * blockDim.x;
  const int stride = blockDim.x * gridDim.x;
  for (int k = first; k < SIZE * SIZE; k += stride) {
    const int x = k % SIZE, y = k / SIZE;
    if (x > 0 && y > 0 && x < SIZE - 1 && y < SIZE - 1) {
      int near = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx != 0 || dy != 0) near += now[(y + dy) * SIZE + x + dx];
      next[k] = near == 3 || (near == 2 && now[k]);
    } else {
      next[k] = false;
    }
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "written_size_c", [](int n, int steps, forms::Arrays& arrays) {
    bool *now = reinterpret_cast<bool*>(arrays.bytes(size_t(n) * n)),
         *next = reinterpret_cast<bool*>(arrays.bytes(size_t(n) * n));
    forms::with_size(n, [&](auto size) {
      constexpr int N = size.value;
      for (int t = 0; t < steps; ++t) {
        next_of<N><<<(N * N + 255) / 256, 256>>>(now, next);
        std::swap(now, next);
      }
    });
  });
}
