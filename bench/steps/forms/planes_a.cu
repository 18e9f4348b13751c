#include "forms.cuh"

// A lattice gas of nine populations, each a plane of one buffer; they come in around a torus.
__global__ void stream(const float* from, float* to, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int n = nx * ny, w = x > 0 ? x - 1 : nx - 1, e = x < nx - 1 ? x + 1 : 0,
      s = y > 0 ? y - 1 : ny - 1, t = y < ny - 1 ? y + 1 : 0, i = y * nx + x;
  float f0 = from[i], f1 = from[n + y * nx + w], f2 = from[2 * n + s * nx + x],
        f3 = from[3 * n + y * nx + e], f4 = from[4 * n + t * nx + x], f5 = from[5 * n + s * nx + w],
        f6 = from[6 * n + s * nx + e], f7 = from[7 * n + t * nx + e], f8 = from[8 * n + t * nx + w];
  float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
  float u = (f1 + f5 + f8 - f3 - f6 - f7) / rho, v = (f2 + f5 + f6 - f4 - f7 - f8) / rho;
  float q = 1 - 1.5f * (u * u + v * v), om = 0.6f;
  auto relaxed = [&](float f, float weight, float c) {
    return f + om * (weight * rho * (q + 3 * c + 4.5f * c * c) - f);
  };
  to[i] = relaxed(f0, 4 / 9.f, 0);
  to[n + i] = relaxed(f1, 1 / 9.f, u);
  to[2 * n + i] = relaxed(f2, 1 / 9.f, v);
  to[3 * n + i] = relaxed(f3, 1 / 9.f, -u);
  to[4 * n + i] = relaxed(f4, 1 / 9.f, -v);
  to[5 * n + i] = relaxed(f5, 1 / 36.f, u + v);
  to[6 * n + i] = relaxed(f6, 1 / 36.f, v - u);
  to[7 * n + i] = relaxed(f7, 1 / 36.f, -u - v);
  to[8 * n + i] = relaxed(f8, 1 / 36.f, u - v);
}

int main(int argc, char** argv) {
  return forms::run(argc, argv, "planes_a", [](int n, int steps, forms::Arrays& arrays) {
    float *a = arrays.floats(9 * size_t(n) * n), *b = arrays.floats(9 * size_t(n) * n);
    dim3 block(32, 4), grid = forms::cover(n, n, block);
    for (int t = 0; t < steps; ++t) {
      stream<<<grid, block>>>(a, b, n, n);
      std::swap(a, b);
    }
  });
}
