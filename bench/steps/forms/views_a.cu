#include "forms.cuh"

template <class T> struct View {
  T* data;
  int width, height;
  __device__ T& operator()(int x, int y) const { return data[y * width + x]; }
};
template <class T> __global__ void diffuse(View<T> now, View<T> next, T rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= now.width - 1 || y >= now.height - 1) return;
  next(x, y) = now(x, y) + rate * (now(x - 1, y) + now(x + 1, y) + now(x, y - 1) + now(x, y + 1) -
                                   4 * now(x, y));
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "views_a", [](int n, int steps, forms::Arrays& arrays) {
    View<float> a{arrays.floats(size_t(n) * n), n, n}, b{arrays.floats(size_t(n) * n), n, n};
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(a, b, 0.1f);
      std::swap(a, b);
    }
  });
}
