#include "forms.cuh"

__global__ void neumann(const float* T, float* Tn, int nx, int ny, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  int id = i + j * nx;
  float c = T[id];
  float w = (i > 0) ? T[id - 1] : c;
  float e = (i < nx - 1) ? T[id + 1] : c;
  float s = (j > 0) ? T[id - nx] : c;
  float nn = (j < ny - 1) ? T[id + nx] : c;
  Tn[id] = c + k * (w + e + s + nn - 4 * c);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "clamp_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      neumann<<<grid, block>>>(a, b, n, n, 0.2f);
      std::swap(a, b);
    }
  });
}
