#include "forms.cuh"

#define AT(f, i, j) f[(i)*N + (j)]

// Two species on a torus; blocks cover it exactly, or nearly.
template <int N> __global__ void gray_scott(const float* u, const float* v, float* un, float* vn) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < N && j < N) {
    int im = (i - 1 + N) % N, ip = (i + 1) % N, jm = (j - 1 + N) % N, jp = (j + 1) % N;
    float a = AT(u, i, j), b = AT(v, i, j);
    float la = AT(u, im, j) + AT(u, ip, j) + AT(u, i, jm) + AT(u, i, jp) - 4 * a;
    float lb = AT(v, im, j) + AT(v, ip, j) + AT(v, i, jm) + AT(v, i, jp) - 4 * b;
    AT(un, i, j) = a + 0.16f * la - a * b * b + 0.04f * (1 - a);
    AT(vn, i, j) = b + 0.08f * lb + a * b * b - 0.1f * b;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "written_size_b", [](int n, int steps, forms::Arrays& arrays) {
    const size_t all = size_t(n) * n;
    float *u = arrays.floats(all), *v = arrays.floats(all), *un = arrays.floats(all),
          *vn = arrays.floats(all);
    forms::with_size(n, [&](auto size) {
      constexpr int N = size.value;
      for (int t = 0; t < steps; ++t) {
        gray_scott<N><<<forms::cover(N, N, dim3(32, 8)), dim3(32, 8)>>>(u, v, un, vn);
        std::swap(u, un);
        std::swap(v, vn);
      }
    });
  });
}
