#include "forms.cuh"

// Filled by all threads of the block together, doubles, a barrier more than is needed.
template <typename Real, int Radius>
__global__ void diffuse(Real* __restrict__ next, const Real* __restrict__ now, unsigned width,
                        unsigned height, Real nu) {
  extern __shared__ unsigned char bytes[];
  Real* const local = reinterpret_cast<Real*>(bytes);
  const int columns = blockDim.x + 2 * Radius, rows = blockDim.y + 2 * Radius;
  const int left = (int)(blockIdx.x * blockDim.x) - Radius;
  const int top = (int)(blockIdx.y * blockDim.y) - Radius;
  for (int r = threadIdx.y; r < rows; r += blockDim.y)
    for (int k = threadIdx.x; k < columns; k += blockDim.x) {
      const int gx = left + k, gy = top + r;
      if (gx >= 0 && gx < (int)width && gy >= 0 && gy < (int)height)
        local[r * columns + k] = now[gy * (int)width + gx];
    }
  __syncthreads();
  const int x = left + Radius + threadIdx.x, y = top + Radius + threadIdx.y;
  const Real* const mid = &local[(threadIdx.y + Radius) * columns + threadIdx.x + Radius];
  if (x >= Radius && y >= Radius && x < (int)width - Radius && y < (int)height - Radius) {
    Real sum = 0;
    for (int d = 1; d <= Radius; ++d)
      sum += (mid[d] + mid[-d] + mid[d * columns] + mid[-d * columns] - 4 * mid[0]) / d;
    next[y * (int)width + x] = mid[0] + nu * sum;
  }
  __syncthreads();
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "dynamic_b", [](int n, int steps, forms::Arrays& arrays) {
    double *a = arrays.doubles(size_t(n) * n), *b = arrays.doubles(size_t(n) * n);
    const dim3 threads(16, 16), blocks = forms::cover(n, n, threads);
    const int side = 16 + 2 * 2;
    for (int t = 0; t < steps; ++t) {
      diffuse<double, 2><<<blocks, threads, side * side * sizeof(double)>>>(b, a, n, n, 0.02);
      std::swap(a, b);
    }
  });
}
