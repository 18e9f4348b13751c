#include "forms.cuh"

// Planes: a thread goes along z.
__global__ void heat3d(const float* __restrict__ in, float* __restrict__ out, int nx, int ny,
                       int nz, float c0, float c1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i <= 0 || j <= 0 || i >= nx - 1 || j >= ny - 1) return;
#pragma unroll 1
  for (int k = 1; k < nz - 1; ++k) {
    int c = (k * ny + j) * nx + i;
    out[c] = c0 * in[c] + c1 * (in[c - 1] + in[c + 1] + in[c - nx] + in[c + nx] + in[c - nx * ny] +
                                in[c + nx * ny]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march_e", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n * 16), *b = arrays.floats(size_t(n) * n * 16);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      heat3d<<<grid, block>>>(a, b, n, n, 16, 0.4f, 0.1f);
      std::swap(a, b);
    }
  });
}
