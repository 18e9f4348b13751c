#include "forms.cuh"

// nvcc unrolls a loop whose stride is an int.
__global__ void advance(float* __restrict__ u_new, const float* __restrict__ u, int n) {
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  const int stride = blockDim.x * gridDim.x;
  while (tid < n) {
    if (tid >= 1 && tid <= n - 2)
      u_new[tid] = u[tid] + 0.2f * (u[tid + 1] - 2 * u[tid] + u[tid - 1]);
    tid += stride;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "gridstride_c", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    for (int t = 0; t < steps; ++t) {
      advance<<<(n * n + 255) / 256, 256>>>(b, a, n * n);
      std::swap(a, b);
    }
  });
}
