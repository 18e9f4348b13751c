#include "forms.cuh"

__device__ float d_dx, d_dt;
__global__ void solve(const float* u, float* u_next, int NX, int NY) {
  const int ix = threadIdx.x + blockDim.x * blockIdx.x;
  const int iy = threadIdx.y + blockDim.y * blockIdx.y;
  if (ix == 0 || iy == 0 || ix >= NX - 1 || iy >= NY - 1) return;
  const int idx = ix + iy * NX;
  u_next[idx] = u[idx] + d_dt / (d_dx * d_dx) *
                             (u[idx + 1] + u[idx - 1] + u[idx + NX] + u[idx - NX] - 4.f * u[idx]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "device_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    const float dx = 1.0f, dt = 0.1f;
    CHECK(cudaMemcpyToSymbol(d_dx, &dx, sizeof dx));
    CHECK(cudaMemcpyToSymbol(d_dt, &dt, sizeof dt));
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      solve<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
