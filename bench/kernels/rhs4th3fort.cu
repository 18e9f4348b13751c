// Right-hand side of SW4's elastic wave equation on a Cartesian grid: fourth-order second
// derivatives with variable coefficients of three displacements. 179 loads of eleven arrays; a
// thread owns a column and marches along k.
#include "grid.cuh"

// Weights of u(-2)-u, u(-1)-u, u(1)-u, u(2)-u in the second derivative with coefficient f.
struct Second {
  float w[4];
  template <typename Values> __device__ explicit Second(Values f) {
    const float a = f(-2), b = f(-1), c = f(0), d = f(1), e = f(2);
    w[0] = b - 0.75f * (c + a);
    w[1] = a + d + 3.0f * (c + b);
    w[2] = b + e + 3.0f * (d + c);
    w[3] = d - 0.75f * (c + e);
  }
  __device__ float of(const float* __restrict__ u, int c, int s) const {
    return w[0] * (u[c - 2 * s] - u[c]) + w[1] * (u[c - s] - u[c]) + w[2] * (u[c + s] - u[c]) +
           w[3] * (u[c + 2 * s] - u[c]);
  }
};

// Twelve times the fourth-order central difference of f(-2) ... f(2).
template <typename Values> __device__ float difference(Values f) {
  return f(-2) - f(2) + 8.0f * (f(1) - f(-1));
}

// D_a(material D_b u) at word c.
__device__ float mixed(const float* __restrict__ material, const float* __restrict__ u, int c,
                       int a, int b) {
  return difference([&](int m) {
    return material[c + m * a] * difference([&](int n) { return u[c + (m * a + n * b)]; });
  });
}

extern "C" __global__ void rhs4th3fort(const float* __restrict__ u1, const float* __restrict__ u2,
                                       const float* __restrict__ u3, const float* __restrict__ mu,
                                       const float* __restrict__ la, const float* __restrict__ strx,
                                       const float* __restrict__ stry,
                                       const float* __restrict__ strz, float* __restrict__ lu1,
                                       float* __restrict__ lu2, float* __restrict__ lu3, int nx,
                                       int ny, int nz, float a1, float cof) {
  const int i = inner(2), j = 2 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i > nx - 3 || j > ny - 3) return;
  const int x = 1, y = nx, z = nx * ny;
  for (int k = 2; k <= nz - 3; ++k) {
    const int c = Box{nx, ny}(i, j, k);
    const auto shear = [&](const float* __restrict__ str, int at, int s) {
      return Second([&](int m) { return mu[c + m * s] * str[at + m]; });
    };
    const auto pressure = [&](const float* __restrict__ str, int at, int s) {
      return Second([&](int m) { return (2.0f * mu[c + m * s] + la[c + m * s]) * str[at + m]; });
    };
    const Second mx = shear(strx, i, x), my = shear(stry, j, y), mz = shear(strz, k, z);
    const float sx = strx[i], sy = stry[j], sz = strz[k];
    const float i6 = 1.0f / 6.0f, i144 = 1.0f / 144.0f;

    const float r1 = i6 * (sx * pressure(strx, i, x).of(u1, c, x) + sy * my.of(u1, c, y) +
                           sz * mz.of(u1, c, z)) +
                     i144 * (sx * sy * (mixed(la, u2, c, x, y) + mixed(mu, u2, c, y, x)) +
                             sx * sz * (mixed(la, u3, c, x, z) + mixed(mu, u3, c, z, x)));
    const float r2 = i6 * (sx * mx.of(u2, c, x) + sy * pressure(stry, j, y).of(u2, c, y) +
                           sz * mz.of(u2, c, z)) +
                     i144 * (sx * sy * (mixed(mu, u1, c, x, y) + mixed(la, u1, c, y, x)) +
                             sy * sz * (mixed(la, u3, c, y, z) + mixed(mu, u3, c, z, y)));
    const float r3 = i6 * (sx * mx.of(u3, c, x) + sy * my.of(u3, c, y) +
                           sz * pressure(strz, k, z).of(u3, c, z)) +
                     i144 * (sx * sz * (mixed(mu, u1, c, x, z) + mixed(la, u1, c, z, x)) +
                             sy * sz * (mixed(mu, u2, c, y, z) + mixed(la, u2, c, z, y)));
    lu1[c] = a1 * lu1[c] + cof * r1;
    lu2[c] = a1 * lu2[c] + cof * r2;
    lu3[c] = a1 * lu3[c] + cof * r3;
  }
}
