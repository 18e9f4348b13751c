// Steps with neighbours along three axes of which mostly no planes are marched through, each for a
// reason of its own: nvcc -std=c++17 -O2 -arch=sm_90 -ptx in_space.cu -o in_space.ptx
#define PLACE                                                                                      \
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,        \
      z = blockIdx.z * blockDim.z + threadIdx.z, i = (z * ny + y) * nx + x, plane = nx * ny;
#define IS_INSIDE (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1)
#define SUM(u) (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - plane] + u[i + plane])

extern "C" {

__global__ void faces(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (IS_INSIDE) v[i] = 0.1f * SUM(u);
}

__global__ void two_arrays(const float* u, float* v, const float* a, float* b, int nx, int ny,
                           int nz) {
  PLACE;
  if (!IS_INSIDE) return;
  v[i] = 0.1f * SUM(u) + a[i];
  b[i] = 0.1f * SUM(a) + u[i];
}

__global__ void halves(const short* u, short* v, int nx, int ny, int nz) {
  PLACE;
  if (IS_INSIDE) v[i] = SUM(u);
}

__global__ void slanted(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (IS_INSIDE && x + y < nx) v[i] = 0.1f * SUM(u);
}

__global__ void masked(const float* u, float* v, const int* mask, int nx, int ny, int nz) {
  PLACE;
  if (IS_INSIDE && mask[i] != 0) v[i] = 0.1f * SUM(u);
}

__global__ void strided(const float* u, float* v, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = nx * ny;
#pragma unroll 1
  for (int z = blockIdx.z * blockDim.z + threadIdx.z; z < nz; z += gridDim.z * blockDim.z) {
    int i = (z * ny + y) * nx + x;
    if (IS_INSIDE) v[i] = 0.1f * SUM(u);
  }
}

__global__ void clamped(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (x >= nx || y < 1 || z < 1 || y >= ny - 1 || z >= nz - 1) return;
  v[i] = u[i - min(x, 1)] + u[i + nx] + u[i - nx] + u[i - plane] + u[i + plane];
}

__global__ void around(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (x >= nx || y < 1 || z < 1 || y >= ny - 1 || z >= nz - 1) return;
  v[i] = u[x == 0 ? i + nx - 1 : i - 1] + u[i + nx] + u[i - nx] + u[i - plane] + u[i + plane];
}

__global__ void copied_rim(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (x >= nx || y >= ny || z >= nz) return;
  if (IS_INSIDE)
    v[i] = 0.1f * SUM(u);
  else
    v[i] = u[i];
}

__global__ void coefficients(const float* u, float* v, const float* c, int nx, int ny, int nz) {
  PLACE;
  if (IS_INSIDE) v[i] = c[i] * SUM(u);
}

__global__ void far(const double* u, double* v, int nx, int ny, int nz) {
  PLACE;
  if (x > 1 && y > 1 && z > 1 && x < nx - 2 && y < ny - 2 && z < nz - 2)
    v[i] = 0.1 * SUM(u) + u[i + 2];
}

// Of these planes are marched through.
__global__ void star(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (x > 1 && y > 1 && z > 1 && x < nx - 2 && y < ny - 2 && z < nz - 2)
    v[i] = 0.1f * SUM(u) + u[i + 2] + u[i - 2 * nx] + u[i + 2 * plane] + u[i - 2] + u[i + 2 * nx] +
           u[i - 2 * plane];
}

// For the folder of tests: what lies in no plane.
__global__ void flat(const float* u, float* v, int nx, int ny, int nz) {
  PLACE;
  if (IS_INSIDE) v[i] = u[i - 1] + u[i + nx];
}
}
