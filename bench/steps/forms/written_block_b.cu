#include "forms.cuh"

// The size of a block is a constant of the program; a barrier that nothing needs.
constexpr int BlockSize = 16;

template <typename Real>
__global__ void relax(Real* __restrict__ next, const Real* __restrict__ now, size_t rows,
                      size_t cols, Real omega) {
  const size_t row = blockIdx.y * BlockSize + threadIdx.y,
               col = blockIdx.x * BlockSize + threadIdx.x;
  if (row > 0 && col > 0 && row + 1 < rows && col + 1 < cols) {
    const size_t at = row * cols + col;
    const Real around = (now[at - 1] + now[at + 1] + now[at - cols] + now[at + cols]) * Real(0.25);
    next[at] = now[at] + omega * (around - now[at]);
  }
  __syncthreads();
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "written_block_b", [](int n, int steps, forms::Arrays& arrays) {
    double *now = arrays.doubles(size_t(n) * n), *next = arrays.doubles(size_t(n) * n);
    dim3 block(BlockSize, BlockSize), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      relax<double><<<grid, block>>>(next, now, n, n, 0.9);
      std::swap(now, next);
    }
  });
}
