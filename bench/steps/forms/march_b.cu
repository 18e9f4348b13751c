#include "forms.cuh"

__global__ void laplace3d(const float* u1, float* u2, int nx, int ny, int nz) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
  int ioff = 1, joff = nx, koff = nx * ny, ind = i + j * joff;
  if (i >= 0 && i <= nx - 1 && j >= 0 && j <= ny - 1)
    for (int k = 0; k < nz; k++) {
      if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1)
        u2[ind] = u1[ind];
      else
        u2[ind] = (u1[ind - ioff] + u1[ind + ioff] + u1[ind - joff] + u1[ind + joff] +
                   u1[ind - koff] + u1[ind + koff]) *
                  (1.0f / 6.0f);
      ind += koff;
    }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "march_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n * 16), *b = arrays.floats(size_t(n) * n * 16);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      laplace3d<<<grid, block>>>(a, b, n, n, 16);
      std::swap(a, b);
    }
  });
}
