#include "forms.cuh"

// A tile of any size in blocks of any: rows and columns are shared out in turn.
constexpr int bx = 32, by = 8;

template <class T> __global__ void jacobi(const T* __restrict__ in, T* __restrict__ out, int n) {
  __shared__ T tile[by + 2][bx + 2];
  const int left = blockIdx.x * bx - 1, top = blockIdx.y * by - 1;
  for (int j = threadIdx.y; j < by + 2; j += by)
    for (int i = threadIdx.x; i < bx + 2; i += bx) {
      const int x = left + i, y = top + j;
      tile[j][i] = x >= 0 && x < n && y >= 0 && y < n ? in[y * n + x] : T(0);
    }
  __syncthreads();
  const int i = threadIdx.x + 1, j = threadIdx.y + 1, x = left + i, y = top + j;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = T(0.25) * (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_h", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    dim3 block(bx, by), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      jacobi<<<grid, block>>>(a, b, n);
      std::swap(a, b);
    }
  });
}
