// Windows that move along a column or a plane, in two authors' styles, for loops that carry values:
// none of these was looked at when the rule was chosen. Parameters: in, out, nx, ny, nz.

// --- One author: long names, size_t, early returns -----------------------------------------------

extern "C" __global__ void columnSum5(const float* __restrict__ in, float* __restrict__ out, int nx,
                                      int ny, int nz) {
  const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= size_t(nx)) return;
#pragma unroll 1
  for (size_t row = 2; row + 2 < size_t(ny); ++row)
    out[row * nx + column] = in[(row - 2) * nx + column] + in[(row - 1) * nx + column] +
                             in[row * nx + column] + in[(row + 1) * nx + column] +
                             in[(row + 2) * nx + column];
}

extern "C" __global__ void columnMax3(const int* __restrict__ in, int* __restrict__ out, int nx,
                                      int ny, int nz) {
  const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= size_t(nx)) return;
  for (size_t row = 1; row + 1 < size_t(ny); ++row) {
    const int above = in[(row - 1) * nx + column], here = in[row * nx + column],
              below = in[(row + 1) * nx + column];
    out[row * nx + column] = max(above, max(here, below));
  }
}

extern "C" __global__ void columnWeights7(const float* __restrict__ in, float* __restrict__ out,
                                          int nx, int ny, int nz) {
  const size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= size_t(nx)) return;
  const float weights[7] = {0.03f, 0.1f, 0.22f, 0.3f, 0.22f, 0.1f, 0.03f};
#pragma unroll 2
  for (size_t row = 3; row + 3 < size_t(ny); ++row) {
    float sum = 0;
    for (int tap = -3; tap <= 3; ++tap)
      sum += weights[tap + 3] * in[(row + tap) * nx + column];
    out[row * nx + column] = sum;
  }
}

extern "C" __global__ void heat7(const float* __restrict__ in, float* __restrict__ out, int nx,
                                 int ny, int nz) {
  const size_t x = size_t(blockIdx.x) * blockDim.x + threadIdx.x,
               y = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x + 1 >= size_t(nx) || y + 1 >= size_t(ny)) return;
  const size_t plane = size_t(nx) * ny;
  for (size_t z = 1; z + 1 < size_t(nz); ++z) {
    const size_t at = z * plane + y * nx + x;
    out[at] = in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] +
                               in[at - plane] + in[at + plane] - 6.0f * in[at]);
  }
}

extern "C" __global__ void box27(const float* __restrict__ in, float* __restrict__ out, int nx,
                                 int ny, int nz) {
  const size_t x = size_t(blockIdx.x) * blockDim.x + threadIdx.x,
               y = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x + 1 >= size_t(nx) || y + 1 >= size_t(ny)) return;
  const size_t plane = size_t(nx) * ny;
#pragma unroll 1
  for (size_t z = 1; z + 1 < size_t(nz); ++z) {
    float sum = 0;
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          sum += in[(z + dz) * plane + (y + dy) * nx + (x + dx)];
    out[z * plane + y * nx + x] = sum * (1.0f / 27);
  }
}

extern "C" __global__ void derivative8(const float* __restrict__ in, float* __restrict__ out,
                                       int nx, int ny, int nz) {
  const size_t x = size_t(blockIdx.x) * blockDim.x + threadIdx.x,
               y = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
  if (x >= size_t(nx) || y >= size_t(ny)) return;
  const long plane = long(nx) * ny;
#pragma unroll 1
  for (long z = 4; z + 4 < nz; ++z) {
    const float* p = in + z * plane + y * nx + x;
    out[z * plane + y * nx + x] =
        0.8f * (p[plane] - p[-plane]) - 0.2f * (p[2 * plane] - p[-2 * plane]) +
        0.038f * (p[3 * plane] - p[-3 * plane]) - 0.0036f * (p[4 * plane] - p[-4 * plane]);
  }
}

// --- Another one: terse, pointers that move on ---------------------------------------------------

extern "C" __global__ void w_diff(const float* __restrict__ a, float* __restrict__ o, int nx,
                                  int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx)
    for (long k = 0; k < ny - 1; k++)
      o[k * nx + i] = a[(k + 1) * nx + i] - a[k * nx + i];
}

extern "C" __global__ void w_mean4(const float* __restrict__ a, float* __restrict__ o, int nx,
                                   int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx) return;
  const float* p = a + i;
  float* q = o + i;
#pragma unroll 1
  for (int k = 0; k < ny - 4; k++, p += nx, q += nx)
    *q = .25f * (p[0] + p[(long)nx] + p[2 * (long)nx] + p[3 * (long)nx]);
}

extern "C" __global__ void w_star13(const float* __restrict__ a, float* __restrict__ o, int nx,
                                    int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 2 || j < 2 || i >= nx - 2 || j >= ny - 2) return;
  long s = (long)nx * ny, c = 2 * s + (long)j * nx + i;
#pragma unroll 1
  for (int k = 2; k < nz - 2; k++, c += s)
    o[c] =
        .5f * a[c] + .1f * (a[c - 1] + a[c + 1] + a[c - nx] + a[c + nx] + a[c - s] + a[c + s]) +
        .02f * (a[c - 2] + a[c + 2] + a[c - 2 * nx] + a[c + 2 * nx] + a[c - 2 * s] + a[c + 2 * s]);
}

extern "C" __global__ void w_grad(const float* __restrict__ a, float* __restrict__ o, int nx,
                                  int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx - 1 || j >= ny - 1) return;
  long s = (long)nx * ny, c = (long)j * nx + i;
#pragma unroll 1
  for (int k = 0; k < nz - 1; k++, c += s) {
    float dx = a[c + 1] - a[c], dy = a[c + nx] - a[c], dz = a[c + s] - a[c];
    o[c] = sqrtf(dx * dx + dy * dy + dz * dz);
  }
}

extern "C" __global__ void w_life3(const int* __restrict__ a, int* __restrict__ o, int nx, int ny,
                                   int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= nx - 1) return;
  long c = nx + i;
#pragma unroll 1
  for (int k = 1; k < ny - 1; k++, c += nx) {
    int n = a[c - nx - 1] + a[c - nx] + a[c - nx + 1] + a[c - 1] + a[c + 1] + a[c + nx - 1] +
            a[c + nx] + a[c + nx + 1];
    o[c] = n == 3 || (n == 2 && a[c]);
  }
}

extern "C" __global__ void w_double5(const double* __restrict__ a, double* __restrict__ o, int nx,
                                     int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx) return;
  long c = 2L * nx + i, s = nx;
#pragma unroll 1
  for (int k = 2; k < ny - 2; k++, c += s)
    o[c] = a[c - 2 * s] - 4 * a[c - s] + 6 * a[c] - 4 * a[c + s] + a[c + 2 * s];
}
