#include "forms.cuh"

// A tile in dynamic shared memory, whose shape is that of the blocks.
__global__ void relax(const float* u, float* v, int nx, int ny) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  const int w = blockDim.x + 2, c = (threadIdx.y + 1) * w + threadIdx.x + 1;
  if (i < nx && j < ny) {
    tile[c] = u[j * nx + i];
    if (threadIdx.x == 0) tile[c - 1] = i > 0 ? u[j * nx + i - 1] : 0.0f;
    if (threadIdx.x == blockDim.x - 1 || i == nx - 1)
      tile[c + 1] = i < nx - 1 ? u[j * nx + i + 1] : 0.0f;
    if (threadIdx.y == 0) tile[c - w] = j > 0 ? u[(j - 1) * nx + i] : 0.0f;
    if (threadIdx.y == blockDim.y - 1 || j == ny - 1)
      tile[c + w] = j < ny - 1 ? u[(j + 1) * nx + i] : 0.0f;
  }
  __syncthreads();
  if (i < nx && j < ny)
    v[j * nx + i] = 0.2f * (tile[c] + tile[c - 1] + tile[c + 1] + tile[c - w] + tile[c + w]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "dynamic_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    const dim3 block(32, 8), grid = forms::cover(n, n, block);
    const size_t bytes = (block.x + 2) * (block.y + 2) * sizeof(float);
    for (int t = 0; t < steps; ++t) {
      relax<<<grid, block, bytes>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
