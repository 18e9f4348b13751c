#include "cubes.cuh"

// Heat in a medium: of each cell its diffusivity.
#define IDX(i, j, k) (((k)*N + (j)) * N + (i))

template <typename real>
__global__ void diffuse(real* T_out, const real* T_in, const real* alpha, real dt, const int N) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const int j = threadIdx.y + blockIdx.y * blockDim.y;
  const int k = threadIdx.z + blockIdx.z * blockDim.z;
  if (i > 0 && i < N - 1)
    if (j > 0 && j < N - 1)
      if (k > 0 && k < N - 1) {
        const real centre = T_in[IDX(i, j, k)];
        real laplace = T_in[IDX(i + 1, j, k)] - 2 * centre + T_in[IDX(i - 1, j, k)];
        laplace += T_in[IDX(i, j + 1, k)] - 2 * centre + T_in[IDX(i, j - 1, k)];
        laplace += T_in[IDX(i, j, k + 1)] - 2 * centre + T_in[IDX(i, j, k - 1)];
        T_out[IDX(i, j, k)] = centre + dt * alpha[IDX(i, j, k)] * laplace;
      }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "medium3d_b", [](int n, int steps, forms::Arrays& arrays) {
    double* alpha = arrays.doubles(cubes::places(n));
    double* t[2] = {arrays.doubles(cubes::places(n)), arrays.doubles(cubes::places(n))};
    const dim3 threads(16, 8, 4), blocks = cubes::cover(n, n, n, threads);
    for (int step = 0; step < steps; ++step)
      diffuse<double><<<blocks, threads>>>(t[(step + 1) % 2], t[step % 2], alpha, 0.05, n);
  });
}
