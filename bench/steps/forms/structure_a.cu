#include "forms.cuh"

struct Cell {
  float u, v, w;
};

// Three substances; a structure is no vector, its fields are loaded and stored one by one.
__global__ void react(const Cell* in, Cell* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  Cell c = in[i], l = in[i - 1], r = in[i + 1], d = in[i - nx], t = in[i + nx];
  float uvv = c.u * c.v * c.v;
  c.u += 0.16f * (l.u + r.u + d.u + t.u - 4 * c.u) - uvv + 0.035f * (1 - c.u);
  c.v += 0.08f * (l.v + r.v + d.v + t.v - 4 * c.v) + uvv - 0.1f * c.v;
  c.w = 0.5f * c.w + 0.125f * (l.w + r.w + d.w + t.w);
  out[i] = c;
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "structure_a", [](int n, int steps, forms::Arrays& arrays) {
    auto *a = reinterpret_cast<Cell*>(arrays.floats(3 * size_t(n) * n)),
         *b = reinterpret_cast<Cell*>(arrays.floats(3 * size_t(n) * n));
    dim3 block(32, 8), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      react<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
