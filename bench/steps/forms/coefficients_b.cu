#include "forms.cuh"

__global__ void darcy(double* p_new, const double* p, const double* perm, const double* src,
                      int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c == 0 || r == 0 || c >= n - 1 || r >= n - 1) return;
  int i = r * n + c;
  double e = perm[i + 1], w = perm[i - 1], s = perm[i + n], nn = perm[i - n];
  p_new[i] =
      (e * p[i + 1] + w * p[i - 1] + s * p[i + n] + nn * p[i - n] + src[i]) / (e + w + s + nn);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "coefficients_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    double *perm = arrays.doubles(size_t(n) * n), *src = arrays.doubles(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      darcy<<<grid, block>>>(b, a, perm, src, n);
      std::swap(a, b);
    }
  });
}
