#include "forms.cuh"

// A thread for each column, as many rows of blocks as the program likes.
__global__ void sweep(float* out, const float* in, int nx, int ny, float k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  for (int j = blockIdx.y + 1; j < ny - 1; j += gridDim.y)
    if (i < nx - 1) {
      const int at = j * nx + i;
      out[at] = in[at] + k * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] - 4 * in[at]);
    }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "rows_c", [](int n, int steps, forms::Arrays& arrays) {
    float *in = arrays.floats(size_t(n) * n), *out = arrays.floats(size_t(n) * n);
    const dim3 block(128), grid((n + 127) / 128, n < 512 ? n : 512);
    for (int t = 0; t < steps; ++t) {
      sweep<<<grid, block>>>(out, in, n, n, 0.1f);
      std::swap(in, out);
    }
  });
}
