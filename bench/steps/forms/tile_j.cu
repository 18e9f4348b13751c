#include "forms.cuh"

// Zeros beside the array, put into the tile by the threads at its sides; blocks of a size that is
// written in the program.
#define TX 32
#define TY 8

__global__ void diffuse(const float* in, float* out, int nx, int ny, float k) {
  __shared__ float tile[TY + 2][TX + 2];
  const int i = blockIdx.x * TX + threadIdx.x, j = blockIdx.y * TY + threadIdx.y;
  const int ti = threadIdx.x + 1, tj = threadIdx.y + 1;
  const bool inside = i < nx && j < ny;
  tile[tj][ti] = inside ? in[j * nx + i] : 0.0f;
  if (threadIdx.x == 0) tile[tj][0] = i > 0 && j < ny && i - 1 < nx ? in[j * nx + i - 1] : 0.0f;
  if (threadIdx.x == TX - 1) tile[tj][TX + 1] = i + 1 < nx && j < ny ? in[j * nx + i + 1] : 0.0f;
  if (threadIdx.y == 0) tile[0][ti] = j > 0 && i < nx && j - 1 < ny ? in[(j - 1) * nx + i] : 0.0f;
  if (threadIdx.y == TY - 1) tile[TY + 1][ti] = j + 1 < ny && i < nx ? in[(j + 1) * nx + i] : 0.0f;
  __syncthreads();
  if (!inside) return;
  const float mid = tile[tj][ti];
  out[j * nx + i] = mid + k * (tile[tj][ti - 1] + tile[tj][ti + 1] + tile[tj - 1][ti] +
                               tile[tj + 1][ti] - 4.0f * mid);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "tile_j", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    dim3 block(TX, TY), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<grid, block>>>(a, b, n, n, 0.125f);
      std::swap(a, b);
    }
  });
}
