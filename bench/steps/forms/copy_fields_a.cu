#include "forms.cuh"

// Burgers' equation: both velocities are kept ahead of each step, as in the twelve steps to
// Navier-Stokes.
__global__ void burgers(float* u, float* v, const float* un, const float* vn, int nx, int ny,
                        float dt, float nu) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
    int c = j * nx + i;
    u[c] = un[c] - dt * (un[c] * (un[c] - un[c - 1]) + vn[c] * (un[c] - un[c - nx])) +
           nu * (un[c + 1] + un[c - 1] + un[c + nx] + un[c - nx] - 4 * un[c]);
    v[c] = vn[c] - dt * (un[c] * (vn[c] - vn[c - 1]) + vn[c] * (vn[c] - vn[c - nx])) +
           nu * (vn[c + 1] + vn[c - 1] + vn[c + nx] + vn[c - nx] - 4 * vn[c]);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "copy_fields_a", [](int n, int steps, forms::Arrays& arrays) {
    const size_t bytes = size_t(n) * n * sizeof(float);
    float *u = arrays.floats(size_t(n) * n), *v = arrays.floats(size_t(n) * n);
    float *un = arrays.floats(size_t(n) * n), *vn = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; t++) {
      CHECK(cudaMemcpyAsync(un, u, bytes, cudaMemcpyDeviceToDevice));
      CHECK(cudaMemcpyAsync(vn, v, bytes, cudaMemcpyDeviceToDevice));
      burgers<<<grid, block>>>(u, v, un, vn, n, n, 0.01f, 0.05f);
    }
  });
}
