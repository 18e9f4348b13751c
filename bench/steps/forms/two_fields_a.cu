#include "forms.cuh"

__global__ void gray_scott(const float* u, const float* v, float* un, float* vn, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int l = (x - 1 + n) % n, r = (x + 1) % n, t = (y - 1 + n) % n, b = (y + 1) % n;
  int i = y * n + x;
  float U = u[i], V = v[i], w = U * V * V;
  float lu = u[y * n + l] + u[y * n + r] + u[t * n + x] + u[b * n + x] - 4 * U;
  float lv = v[y * n + l] + v[y * n + r] + v[t * n + x] + v[b * n + x] - 4 * V;
  un[i] = U + 0.16f * lu - w + 0.035f * (1 - U);
  vn[i] = V + 0.08f * lv + w - 0.1f * V;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "two_fields_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    float *c = arrays.floats(size_t(n) * n), *d = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      gray_scott<<<grid, block>>>(a, b, c, d, n);
      std::swap(a, c);
      std::swap(b, d);
    }
  });
}
