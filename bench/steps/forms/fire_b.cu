#include "forms.cuh"

__global__ void spread(const float* T, float* Tn, int n, float threshold) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
  if (i < 1 || i > n - 2 || j < 1 || j > n - 2) return;
  int id = j * n + i;
  float t = T[id];
  if (t > threshold) {
    Tn[id] = t;
    return;
  }
  float m = fmaxf(fmaxf(T[id - 1], T[id + 1]), fmaxf(T[id - n], T[id + n]));
  if (m > threshold)
    Tn[id] = m * 0.999f;
  else
    Tn[id] = t * 0.99f;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "fire_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      spread<<<grid, block>>>(a, b, n, 1.9f);
      std::swap(a, b);
    }
  });
}
