// Steps with neighbours along three axes whose rims are not left out.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx rims_in_space.cu

#define PLACE                                                                                      \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,  \
            z = blockIdx.z * blockDim.z + threadIdx.z;

// All of it is copied.
extern "C" __global__ void copied(const float* in, float* out, int nx, int ny, int nz) {
  PLACE
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x;
  if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
    out[i] = in[i];
  else
    out[i] = (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny]) *
             (1.0f / 6.0f);
}

// The first planes are something else, the last ones are left out.
extern "C" __global__ void bottom(const double* in, double* out, int nx, int ny, int nz) {
  PLACE
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  const int i = (z * ny + y) * nx + x;
  if (z == 0)
    out[i] = in[i + nx * ny] - 0.5;
  else
    out[i] = 0.25 * in[i] + 0.125 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                     in[i - nx * ny] + in[i + nx * ny]);
}

// Neighbours beside the array are its last ones.
extern "C" __global__ void clamped(const int* in, int* out, int nx, int ny, int nz) {
  PLACE
  if (x >= nx || y >= ny || z >= nz) return;
  const int left = x > 0 ? x - 1 : 0, right = x < nx - 1 ? x + 1 : x;
  const int below = y > 0 ? y - 1 : 0, above = y < ny - 1 ? y + 1 : y;
  const int front = z > 0 ? z - 1 : 0, behind = z < nz - 1 ? z + 1 : z;
#define AT(x, y, z) in[((z)*ny + (y)) * nx + (x)]
  out[(z * ny + y) * nx + x] = 3 * AT(x, y, z) + (AT(left, y, z) ^ AT(right, y, z)) +
                               (AT(x, below, z) - AT(x, above, z)) +
                               (AT(x, y, front) & AT(x, y, behind));
}

// Along one axis they are clamped, along another one they are none.
extern "C" __global__ void mixed(const float* in, float* out, int nx, int ny, int nz) {
  PLACE
  if (x >= nx || y < 1 || y >= ny - 1 || z >= nz) return;
  const int i = (z * ny + y) * nx + x;
  float sum = in[i - nx] + in[i + nx];
  if (x > 0) sum += in[i - 1];
  if (x < nx - 1) sum += in[i + 1];
  sum += z > 0 ? in[i - nx * ny] : 1.0f;
  sum += z < nz - 1 ? in[i + nx * ny] : in[i];
  out[i] = 0.1f * sum + 0.4f * in[i];
}
