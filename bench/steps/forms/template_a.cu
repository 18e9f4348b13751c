#include "forms.cuh"

template <typename T, typename I, int R> struct Grid {
  I nx, ny;
  __device__ I at(I x, I y) const { return x + y * nx; }
  __device__ bool inside(I x, I y) const { return x >= R && y >= R && x < nx - R && y < ny - R; }
};
template <typename T, typename I, int R>
__global__ void apply(const T* in, T* out, Grid<T, I, R> g) {
  I x = I(blockIdx.x) * I(blockDim.x) + I(threadIdx.x),
    y = I(blockIdx.y) * I(blockDim.y) + I(threadIdx.y);
  if (!g.inside(x, y)) return;
  T sum = 0;
#pragma unroll
  for (int r = 1; r <= R; ++r)
    sum += in[g.at(x - r, y)] + in[g.at(x + r, y)] + in[g.at(x, y - r)] + in[g.at(x, y + r)];
  out[g.at(x, y)] = sum / T(4 * R);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "template_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      apply<float, int, 2><<<grid, block>>>(a, b, {n, n});
      std::swap(a, b);
    }
  });
}
