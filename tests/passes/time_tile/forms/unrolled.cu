// Loops over places that nvcc unrolls: nvcc -std=c++17 -O2 -arch=sm_90 -ptx

extern "C" __global__ void down(const float* __restrict__ in, float* __restrict__ out, int nx,
                                int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= nx - 1) return;
  for (int y = 1; y < ny - 1; ++y) {
    const int i = y * nx + x;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
  }
}

// All of a plane's rows at once, with the last one in any case.
extern "C" __global__ void planes(float c0, float c1, const float* in, float* out, int nx, int ny,
                                  int nz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1)
    for (int k = 1; k < nz - 1; k++) {
      const int at = i + nx * (j + ny * k);
      out[at] = (in[at + nx * ny] + in[at - nx * ny] + in[at + nx] + in[at - nx] + in[at + 1] +
                 in[at - 1]) *
                    c1 -
                in[at] * c0;
    }
}

// Values that go from plane to plane in registers.
extern "C" __global__ void handed(const double* in, double* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;
  int at = nx * y + x;
  double below = in[at], own = in[at + nx * ny];
  for (int z = 1; z < nz - 1; ++z) {
    at += nx * ny;
    const double above = in[at + nx * ny];
    out[at] =
        0.4 * own + 0.1 * (above + below + in[at + 1] + in[at - 1] + in[at + nx] + in[at - nx]);
    below = own;
    own = above;
  }
}

// The rim is copied.
extern "C" __global__ void rim(int nx, int ny, int nz, const float* __restrict__ in,
                               float* __restrict__ out) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
  int at = i + j * nx;
  if (i >= nx || j >= ny) return;
  for (int k = 0; k < nz; k++) {
    float next;
    if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1)
      next = in[at];
    else
      next = (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] +
              in[at + nx * ny]) *
             (1.0f / 6.0f);
    out[at] = next;
    at += nx * ny;
  }
}

// Two fields, of whole numbers, from the bottom to the top.
extern "C" __global__ void fields(const int* u, const int* v, int* next_u, int* next_v, long nx,
                                  int ny) {
  const long x = blockIdx.x * long(blockDim.x) + threadIdx.x;
  if (x < nx - 1 && x > 0)
    for (int y = 1; y <= ny - 2; ++y) {
      const long i = y * nx + x;
      next_u[i] = u[i] + (v[i + 1] - v[i - 1]) / 2;
      next_v[i] = v[i] + (u[i + nx] ^ u[i - nx]);
    }
}

// Columns to the left of the thread's own, up to a mask of rows in memory.
extern "C" __global__ void masked(const float* in, const float* rows, float* out, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= nx) return;
  for (int y = 0; y < ny; ++y) {
    const int left = x > 0 ? x - 1 : x;
    out[y * nx + x] = rows[y] * in[y * nx + left] + in[y * nx + x];
  }
}
