#include "forms.cuh"

#define W (gridDim.x * blockDim.x)
#define H (gridDim.y * blockDim.y)
#define AT(i, j) (((i) + W) % W + ((j) + H) % H * W)

__global__ void majority(unsigned char* out, const unsigned char* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  int votes = in[AT(i, j)];
  for (int k = -1; k <= 1; k += 2)
    votes += in[AT(i + k, j)] + in[AT(i, j + k)] + in[AT(i + k, j + k)] + in[AT(i + k, j - k)];
  out[AT(i, j)] = votes > 4;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "launch_size_b", [](int n, int steps, forms::Arrays& arrays) {
    const dim3 block(32, 8), grid = forms::cover(n, n, block);
    const size_t count = size_t(grid.x) * grid.y * 256;
    auto *a = arrays.bytes(count), *b = arrays.bytes(count);
    for (int t = 0; t < steps; ++t) {
      majority<<<grid, block>>>(b, a);
      std::swap(a, b);
    }
  });
}
