#include "forms.cuh"

// A blur over the 3x3 places around, of those that are in the picture: loops that begin at the
// thread's own place.
__global__ void blur(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0.f;
  for (int r = y - 1; r <= y + 1; ++r)
    for (int c = x - 1; c <= x + 1; ++c)
      if (r >= 0 && r < h && c >= 0 && c < w) sum += in[r * w + c];
  out[y * w + x] = 0.5f * in[y * w + x] + 0.05f * sum;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "counted_a", [](int n, int steps, forms::Arrays& arrays) {
    float *u = arrays.floats(size_t(n) * n), *v = arrays.floats(size_t(n) * n);
    dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
    for (int t = 0; t < steps; ++t) {
      blur<<<grid, block>>>(u, v, n, n);
      std::swap(u, v);
    }
  });
}
