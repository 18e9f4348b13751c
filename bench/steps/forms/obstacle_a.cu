#include "forms.cuh"

// Cells of an obstacle keep what they are.
__global__ void heat(const float* in, float* out, const unsigned char* obstacle, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  if (obstacle[i])
    out[i] = in[i];
  else
    out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 4.f * in[i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "obstacle_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    unsigned char* obstacle = arrays.bytes(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      heat<<<grid, block>>>(a, b, obstacle, n, n);
      std::swap(a, b);
    }
  });
}
