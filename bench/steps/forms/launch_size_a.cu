#include "forms.cuh"

// The grid has as many threads as the array has elements.
__global__ void spread(float* next, const float* now, float rate) {
  int x = threadIdx.x + blockIdx.x * blockDim.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  int width = blockDim.x * gridDim.x, height = blockDim.y * gridDim.y;
  int at = x + y * width;
  int left = at - (x > 0), right = at + (x < width - 1);
  int up = y > 0 ? at - width : at, down = y < height - 1 ? at + width : at;
  next[at] = now[at] + rate * (now[left] + now[right] + now[up] + now[down] - 4 * now[at]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "launch_size_a", [](int n, int steps, forms::Arrays& arrays) {
    const dim3 block(16, 16), grid = forms::cover(n, n, block);
    const size_t count = size_t(grid.x) * grid.y * 256;
    float *a = arrays.floats(count), *b = arrays.floats(count);
    for (int t = 0; t < steps; ++t) {
      spread<<<grid, block>>>(b, a, 0.2f);
      std::swap(a, b);
    }
  });
}
