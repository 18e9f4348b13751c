// Steps with neighbours along three axes that read other arrays, too, which nobody stores to.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx others_in_space.cu

#define PLACE                                                                                      \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,  \
            z = blockIdx.z * blockDim.z + threadIdx.z, i = (z * ny + y) * nx + x, plane = nx * ny;
#define IS_INSIDE (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1)
#define SUM(u) (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - plane] + u[i + plane])

extern "C" {

__global__ void source(const float* __restrict__ u, float* __restrict__ v, int nx, int ny, int nz,
                       const float* __restrict__ f) {
  PLACE
  if (IS_INSIDE) v[i] = (SUM(u) - f[i]) * (1.0f / 6.0f);
}

// Between places, too.
__global__ void flux(const double* u, double* v, int nx, int ny, int nz, const double* c) {
  PLACE
  if (!IS_INSIDE) return;
  v[i] =
      u[i] + 0.1 * ((c[i] + c[i - 1]) * (u[i - 1] - u[i]) + (c[i] + c[i + 1]) * (u[i + 1] - u[i]) +
                    c[i - nx] * u[i - nx] + c[i + nx] * u[i + nx] + c[i - plane] * u[i - plane] +
                    c[i + plane] * u[i + plane]);
}

// Clamped, with an array that has no rim.
__global__ void power(const float* in, float* out, int nx, int ny, int nz, const float* p) {
  PLACE
  if (x >= nx || y >= ny || z >= nz) return;
  const int left = x == 0 ? i : i - 1, right = x == nx - 1 ? i : i + 1;
  const int above = y == 0 ? i : i - nx, below = y == ny - 1 ? i : i + nx;
  const int front = z == 0 ? i : i - plane, behind = z == nz - 1 ? i : i + plane;
  out[i] = 0.3f * in[i] + 0.1f * (in[left] + in[right]) + 0.12f * (in[above] + in[below]) +
           0.11f * (in[front] + in[behind]) + 0.05f * p[i];
}

// At the rim another array is read, inside two of them.
__global__ void walls(const float* in, float* out, int nx, int ny, int nz, const float* wall,
                      const float* c) {
  PLACE
  if (x >= nx || y >= ny || z >= nz) return;
  if (IS_INSIDE)
    out[i] = c[i - plane - nx - 1] * SUM(in) + in[i];
  else
    out[i] = 0.5f * in[i] + wall[i];
}

// What is the same for all.
__device__ float weights[2] = {0.25f, 0.125f};
__global__ void weighted(const float* u, float* v, int nx, int ny, int nz) {
  PLACE
  if (IS_INSIDE) v[i] = weights[0] * u[i] + weights[1] * SUM(u);
}

// Such a load behind a guard that is no bound: perhaps nobody does it.
__global__ void holes(const float* u, float* v, int nx, int ny, int nz, const float* w) {
  PLACE
  if (IS_INSIDE && (x & 3) != 1) v[i] = w[0] * u[i] + 0.1f * SUM(u);
}

// Whether it is read data decide: where all elements are alike it is not.
__global__ void gated(const int* u, int* v, int nx, int ny, int nz, const int* s) {
  PLACE
  if (!IS_INSIDE) return;
  int value = u[i];
  if (6 * value != SUM(u)) value += s[i];
  v[i] = value;
}

__global__ void gated_floor(const int* u, int* v, int nx, int ny, int nz, const int* s) {
  PLACE
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int value = u[i];
  if (z == 0) {
    if (value != u[i + nx]) value += s[i];
  } else {
    value = (SUM(u) - 5 * value);
  }
  v[i] = value;
}
}
