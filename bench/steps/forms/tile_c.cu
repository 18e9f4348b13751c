#include "forms.cuh"

#define BX 32
#define BY 8

__global__ void diffuse(const float* __restrict__ u, float* __restrict__ v, int nx, int ny) {
  __shared__ float tile[BY + 2][BX + 2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  int li = threadIdx.x + 1, lj = threadIdx.y + 1;
  int idx = j * nx + i;
  if (i < nx && j < ny) {
    tile[lj][li] = u[idx];
    if (threadIdx.x == 0) tile[lj][0] = i > 0 ? u[idx - 1] : 0.0f;
    if (threadIdx.x == blockDim.x - 1) tile[lj][li + 1] = i < nx - 1 ? u[idx + 1] : 0.0f;
    if (threadIdx.y == 0) tile[0][li] = j > 0 ? u[idx - nx] : 0.0f;
    if (threadIdx.y == blockDim.y - 1) tile[lj + 1][li] = j < ny - 1 ? u[idx + nx] : 0.0f;
  }
  __syncthreads();
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
    float c = tile[lj][li];
    v[idx] = c + 0.2f * (tile[lj][li - 1] + tile[lj][li + 1] + tile[lj - 1][li] + tile[lj + 1][li] -
                         4.0f * c);
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_c", [](int n, int steps, forms::Arrays& arrays) {
    float *u = arrays.floats(size_t(n) * n), *v = arrays.floats(size_t(n) * n);
    dim3 block(BX, BY), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(u, v, n, n);
      std::swap(u, v);
    }
  });
}
