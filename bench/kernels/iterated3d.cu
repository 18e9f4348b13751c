// Iterated 3-D stencils (the set of PERKS and EBISU) in f32 and f64, one time step a launch.
// Weights add up to one (the Poisson operator's are made positive), so values stay in range.
#include "grid.cuh"

template <typename T> struct Grid3 {
  const T* __restrict__ in;
  int c, nx, nxy;
  __device__ T operator()(int dx, int dy, int dz) const { return in[c + dx + dy * nx + dz * nxy]; }
};

template <typename T> __device__ T faces(Grid3<T> u) {
  return u(-1, 0, 0) + u(1, 0, 0) + u(0, -1, 0) + u(0, 1, 0) + u(0, 0, -1) + u(0, 0, 1);
}

template <typename T> __device__ T edges(Grid3<T> u) {
  return u(-1, -1, 0) + u(1, -1, 0) + u(-1, 1, 0) + u(1, 1, 0) + u(-1, 0, -1) + u(1, 0, -1) +
         u(-1, 0, 1) + u(1, 0, 1) + u(0, -1, -1) + u(0, 1, -1) + u(0, -1, 1) + u(0, 1, 1);
}

template <typename T> __device__ T corners(Grid3<T> u) {
  return u(-1, -1, -1) + u(1, -1, -1) + u(-1, 1, -1) + u(1, 1, -1) + u(-1, -1, 1) + u(1, -1, 1) +
         u(-1, 1, 1) + u(1, 1, 1);
}

template <typename T> struct Seven {
  static __device__ T point(Grid3<T> u) { return T(0.4) * u(0, 0, 0) + T(0.1) * faces(u); }
};

template <typename T> struct TwentySeven {
  static __device__ T point(Grid3<T> u) {
    return T(0.4) * u(0, 0, 0) + T(0.05) * faces(u) + T(0.02) * edges(u) + T(0.0075) * corners(u);
  }
};

template <typename T> struct Poisson {
  static __device__ T point(Grid3<T> u) {
    return T(0.34) * u(0, 0, 0) + T(0.06) * faces(u) + T(0.025) * edges(u);
  }
};

template <typename Stencil, typename T>
__device__ void step(const T* __restrict__ in, T* __restrict__ out, int nx, int ny, int nz) {
  const int i = inner(0), j = blockIdx.y * blockDim.y + threadIdx.y, k = 1 + blockIdx.z;
  if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1 || k >= nz - 1) return;
  const int c = Box{nx, ny}(i, j, k);
  out[c] = Stencil::point({in, c, nx, nx * ny});
}

#define KERNEL(name, type, stencil)                                                                \
  extern "C" __global__ void name(const type* __restrict__ in, type* __restrict__ out, int nx,     \
                                  int ny, int nz) {                                                \
    step<stencil<type>>(in, out, nx, ny, nz);                                                      \
  }

KERNEL(j3d7pt_f32, float, Seven)
KERNEL(j3d7pt_f64, double, Seven)
KERNEL(j3d27pt_f32, float, TwentySeven)
KERNEL(j3d27pt_f64, double, TwentySeven)
KERNEL(poisson_f32, float, Poisson)
KERNEL(poisson_f64, double, Poisson)
