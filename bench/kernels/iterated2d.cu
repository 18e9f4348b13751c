// Iterated 2-D stencils (the set of PERKS and EBISU) in f32 and f64, one time step a launch, with
// 2-D blocks. The host swaps the two buffers; weights add up to one, so values stay in range.
#include "grid.cuh"

template <typename T> struct Grid2 {
  const T* __restrict__ in;
  int c, nx;
  __device__ T operator()(int dx, int dy) const { return in[c + dx + dy * nx]; }
};

template <typename T> struct Star1 { // 2d5pt
  static constexpr int radius = 1;
  static __device__ T point(Grid2<T> u) {
    return T(0.5) * u(0, 0) + T(0.12) * u(-1, 0) + T(0.13) * u(1, 0) + T(0.11) * u(0, -1) +
           T(0.14) * u(0, 1);
  }
};

template <typename T> struct Star2 { // 2ds9pt
  static constexpr int radius = 2;
  static __device__ T point(Grid2<T> u) {
    return T(0.4) * u(0, 0) + T(0.12) * u(-1, 0) + T(0.13) * u(1, 0) + T(0.11) * u(0, -1) +
           T(0.14) * u(0, 1) + T(0.03) * (u(-2, 0) + u(2, 0)) + T(0.02) * (u(0, -2) + u(0, 2));
  }
};

template <typename T, int R> struct Square { // 2d9pt, 2d25pt
  static constexpr int radius = R;
  static __device__ T point(Grid2<T> u) {
    T sum = 0;
#pragma unroll
    for (int dy = -R; dy <= R; ++dy)
#pragma unroll
      for (int dx = -R; dx <= R; ++dx)
        sum += T(1.0 / ((2 * R + 1) * (2 * R + 1) + 0.25 * dx + 0.125 * dy)) * u(dx, dy);
    return sum;
  }
};

template <typename Stencil, typename T>
__device__ void step(const T* __restrict__ in, T* __restrict__ out, int nx, int ny) {
  constexpr int r = Stencil::radius;
  const int i = inner(0), j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < r || i >= nx - r || j < r || j >= ny - r) return;
  const int c = Plane{nx}(i, j);
  out[c] = Stencil::point({in, c, nx});
}

#define KERNEL(name, type, ...)                                                                    \
  extern "C" __global__ void name(const type* __restrict__ in, type* __restrict__ out, int nx,     \
                                  int ny) {                                                        \
    step<__VA_ARGS__>(in, out, nx, ny);                                                            \
  }

KERNEL(j2d5pt_f32, float, Star1<float>)
KERNEL(j2d5pt_f64, double, Star1<double>)
KERNEL(j2ds9pt_f32, float, Star2<float>)
KERNEL(j2ds9pt_f64, double, Star2<double>)
KERNEL(j2d9pt_f32, float, Square<float, 1>)
KERNEL(j2d9pt_f64, double, Square<double, 1>)
KERNEL(j2d25pt_f32, float, Square<float, 2>)
KERNEL(j2d25pt_f64, double, Square<double, 2>)
