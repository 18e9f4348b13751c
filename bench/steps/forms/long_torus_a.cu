#include "forms.cuh"

// Diffusion on a torus; a thread's place is divided by sizes of 64 bits.
__global__ void diffuse(const float* a, float* b, size_t width, size_t height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= int(width * height)) return;
  const int x = i % width, y = i / width;
  const int west = (x + width - 1) % width, east = (x + 1) % width;
  const int north = (y + height - 1) % height, south = (y + 1) % height;
  b[i] = a[i] + 0.2f * (a[y * width + west] + a[y * width + east] + a[north * width + x] +
                        a[south * width + x] - 4.f * a[i]);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "long_torus_a", [](int n, int steps, forms::Arrays& arrays) {
    const size_t cells = size_t(n) * n;
    float *u = arrays.floats(cells), *v = arrays.floats(cells);
    for (int t = 0; t < steps; ++t) {
      diffuse<<<unsigned(cells + 255) / 256, 256>>>(u, v, n, n);
      std::swap(u, v);
    }
  });
}
