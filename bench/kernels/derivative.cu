// Mixed derivatives of SW4's elastic wave equation on a curvilinear grid (first component): a
// fourth-order difference along one axis of material times metric times a fourth-order difference
// along another. 166 loads of eleven arrays. SW4's x is the axis that lies furthest apart and along
// which a thread marches, its z lies under the lanes; strx and stry stretch x and y.
#include "grid.cuh"

// Fourth-order central difference of the values f(-2) ... f(2).
template <typename Values> __device__ float difference(Values f) {
  return -(1.0f / 12.0f) * (f(2) - f(-2)) + (2.0f / 3.0f) * (f(1) - f(-1));
}

extern "C" __global__ void
derivative(const float* __restrict__ u1, const float* __restrict__ u2, const float* __restrict__ u3,
           const float* __restrict__ mu, const float* __restrict__ la,
           const float* __restrict__ met1, const float* __restrict__ met2,
           const float* __restrict__ met3, const float* __restrict__ met4,
           const float* __restrict__ strx, const float* __restrict__ stry, float* __restrict__ lu,
           int nx, int ny, int nz) {
  const int i = inner(2), j = 2 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i > nx - 3 || j > ny - 3) return;
  const int x = nx * ny, y = nx, z = 1;
  for (int k = 2; k <= nz - 3; ++k) {
    const int c = Box{nx, ny}(i, j, k);
    const auto along = [](const float* __restrict__ u, int at, int axis) {
      return difference([&](int m) { return u[at + m * axis]; });
    };
    const float sx = strx[k], sy = stry[j];
    // D_y(mu m1 m1 D_x u2), D_x(la m1 m1 D_y u2)
    float r = difference([&](int m) {
      const int p = c + m * y;
      return mu[p] * met1[p] * met1[p] * along(u2, p, x);
    });
    r += difference([&](int m) {
      const int p = c + m * x;
      return la[p] * met1[p] * met1[p] * along(u2, p, y);
    });
    // D_z of differences along x and y
    r += difference([&](int m) {
      const int p = c + m * z;
      return (2.0f * mu[p] + la[p]) * met2[p] * met1[p] * along(u1, p, x) * sx +
             mu[p] * met3[p] * met1[p] * along(u2, p, x) * sy +
             mu[p] * met4[p] * met1[p] * along(u3, p, x);
    });
    r += difference([&](int m) {
      const int p = c + m * z;
      return mu[p] * met3[p] * met1[p] * along(u1, p, y) * sy +
             la[p] * met2[p] * met1[p] * along(u2, p, y) * sx;
    });
    // differences along z, under D_x and D_y
    r += difference([&](int m) {
      const int p = c + m * x;
      return (2.0f * mu[p] + la[p]) * met2[p] * met1[p] * along(u1, p, z) * strx[k + m] +
             la[p] * met3[p] * met1[p] * along(u2, p, z) * sy +
             la[p] * met4[p] * met1[p] * along(u3, p, z);
    });
    r += difference([&](int m) {
      const int p = c + m * y;
      return mu[p] * met3[p] * met1[p] * along(u1, p, z) * sx +
             mu[p] * met2[p] * met1[p] * along(u2, p, z) * sy;
    });
    lu[c] = r;
  }
}
