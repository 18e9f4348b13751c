#include "forms.cuh"

// Nothing flows into solid cells.
__global__ void heat(const float* in, float* out, const unsigned char* solid, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    int i = y * nx + x;
    float c = in[i];
    if (!solid[i]) {
      float w = solid[i - 1] ? c : in[i - 1], e = solid[i + 1] ? c : in[i + 1];
      float n = solid[i - nx] ? c : in[i - nx], s = solid[i + nx] ? c : in[i + nx];
      c += 0.2f * (w + e + n + s - 4 * c);
    }
    out[i] = c;
  }
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "obstacle_b", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(size_t(n) * n), *b = arrays.floats(size_t(n) * n);
    unsigned char* solid = arrays.bytes(size_t(n) * n);
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      heat<<<grid, block>>>(a, b, solid, n, n);
      std::swap(a, b);
    }
  });
}
