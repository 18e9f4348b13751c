// The hyperbolic terms of the compressible Navier-Stokes equations: eighth-order first derivatives
// of the conserved quantities times a velocity, one kernel for each direction. A thread owns a
// column and marches along the slowest axis, so values meet again in other lanes (x), in other rows
// of the block (y), or in later trips of the loop (z).
#include "grid.cuh"

// Eighth-order central difference of the values f(-4) ... f(4).
template <typename Values> __device__ float difference(Values f) {
  return 0.8f * (f(1) - f(-1)) - 0.2f * (f(2) - f(-2)) + 0.038095238095238f * (f(3) - f(-3)) -
         0.003571428571428f * (f(4) - f(-4));
}

struct Flux {
  float density, x, y, z, energy;
};

// Derivatives at word c along the axis whose stride is s; n is the momentum along that axis.
__device__ Flux convect(const float* __restrict__ mx, const float* __restrict__ my,
                        const float* __restrict__ mz, const float* __restrict__ en,
                        const float* __restrict__ v, const float* __restrict__ n, int c, int s) {
  return {difference([&](int m) { return n[c + m * s]; }),
          difference([&](int m) { return mx[c + m * s] * v[c + m * s]; }),
          difference([&](int m) { return my[c + m * s] * v[c + m * s]; }),
          difference([&](int m) { return mz[c + m * s] * v[c + m * s]; }),
          difference([&](int m) { return en[c + m * s] * v[c + m * s]; })};
}

extern "C" __global__ void hypterm_x(const float* __restrict__ mx, const float* __restrict__ my,
                                     const float* __restrict__ mz, const float* __restrict__ en,
                                     const float* __restrict__ v, const float* __restrict__ p,
                                     float* __restrict__ f0, float* __restrict__ f1,
                                     float* __restrict__ f2, float* __restrict__ f3,
                                     float* __restrict__ f4, int nx, int ny, int nz, float inv) {
  const int i = inner(4), j = 4 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i > nx - 5 || j > ny - 5) return;
  for (int k = 4; k <= nz - 5; ++k) {
    const int c = Box{nx, ny}(i, j, k), s = 1;
    const Flux d = convect(mx, my, mz, en, v, mx, c, s);
    f0[c] = -d.density * inv;
    f1[c] = -(d.x + difference([&](int m) { return p[c + m * s]; })) * inv;
    f2[c] = -d.y * inv;
    f3[c] = -d.z * inv;
    f4[c] = -(d.energy + difference([&](int m) { return p[c + m * s] * v[c + m * s]; })) * inv;
  }
}

extern "C" __global__ void hypterm_y(const float* __restrict__ mx, const float* __restrict__ my,
                                     const float* __restrict__ mz, const float* __restrict__ en,
                                     const float* __restrict__ v, const float* __restrict__ p,
                                     float* __restrict__ f0, float* __restrict__ f1,
                                     float* __restrict__ f2, float* __restrict__ f3,
                                     float* __restrict__ f4, int nx, int ny, int nz, float inv) {
  const int i = inner(4), j = 4 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i > nx - 5 || j > ny - 5) return;
  for (int k = 4; k <= nz - 5; ++k) {
    const int c = Box{nx, ny}(i, j, k), s = nx;
    const Flux d = convect(mx, my, mz, en, v, my, c, s);
    f0[c] -= d.density * inv;
    f1[c] -= d.x * inv;
    f2[c] -= (d.y + difference([&](int m) { return p[c + m * s]; })) * inv;
    f3[c] -= d.z * inv;
    f4[c] -= (d.energy + difference([&](int m) { return p[c + m * s] * v[c + m * s]; })) * inv;
  }
}

extern "C" __global__ void hypterm_z(const float* __restrict__ mx, const float* __restrict__ my,
                                     const float* __restrict__ mz, const float* __restrict__ en,
                                     const float* __restrict__ v, const float* __restrict__ p,
                                     float* __restrict__ f0, float* __restrict__ f1,
                                     float* __restrict__ f2, float* __restrict__ f3,
                                     float* __restrict__ f4, int nx, int ny, int nz, float inv) {
  const int i = inner(4), j = 4 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i > nx - 5 || j > ny - 5) return;
  for (int k = 4; k <= nz - 5; ++k) {
    const int c = Box{nx, ny}(i, j, k), s = nx * ny;
    const Flux d = convect(mx, my, mz, en, v, mz, c, s);
    f0[c] -= d.density * inv;
    f1[c] -= d.x * inv;
    f2[c] -= d.y * inv;
    f3[c] -= (d.z + difference([&](int m) { return p[c + m * s]; })) * inv;
    f4[c] -= (d.energy + difference([&](int m) { return p[c + m * s] * v[c + m * s]; })) * inv;
  }
}
