// Steps without a guard, of launches with a thread for each place.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx unguarded.cu

// Rows one behind the other, around a torus.
extern "C" __global__ void around(float* out, const float* in, float c, float norm, int nx,
                                  int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % nx, y = i / nx;
  const int right = y * nx + (x + 1) % nx, left = y * nx + (nx + x - 1) % nx;
  const int above = ((y + 1) % ny) * nx + x, below = ((ny + y - 1) % ny) * nx + x;
  out[y * nx + x] = norm * in[i] + c * (in[right] + in[left] + in[above] + in[below]);
}

// The same by comparisons.
extern "C" __global__ void compared(int* out, const int* in, int nx, int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % nx, y = i / nx;
  const int above = y == ny - 1 ? 0 : y + 1, below = y == 0 ? ny - 1 : y - 1;
  const int right = x == nx - 1 ? 0 : x + 1, left = x == 0 ? nx - 1 : x - 1;
  out[i] =
      in[i] + (in[above * nx + x] ^ in[below * nx + x]) + in[y * nx + right] - in[y * nx + left];
}

// Rows above the last one and below the first one are these.
extern "C" __global__ void clamped(float* out, const float* in, int nx, int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = i / nx;
  const float above = y < ny - 1 ? in[i + nx] : in[i], below = y > 0 ? in[i - nx] : in[i];
  out[i] = 0.25f * (above + below) + 0.5f * in[i];
}

// A tile with its halo, around a torus.
#define SIDE 8
extern "C" __global__ void tile_around(const float* in, float* out, int n, float c) {
  __shared__ float tile[SIDE + 2][SIDE + 2];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  int row = y % n, column = x % n;
  tile[ty + 1][tx + 1] = in[row * n + column];
  if (ty == 0) {
    row = (y - 1 + n) % n;
    tile[0][tx + 1] = in[row * n + column];
  }
  if (ty == blockDim.y - 1) {
    row = (y + 1 + n) % n;
    tile[SIDE + 1][tx + 1] = in[row * n + column];
  }
  if (tx == 0) {
    row = y % n;
    column = (x - 1 + n) % n;
    tile[ty + 1][0] = in[row * n + column];
  }
  if (tx == blockDim.x - 1) {
    row = y % n;
    column = (x + 1 + n) % n;
    tile[ty + 1][SIDE + 1] = in[row * n + column];
  }
  __syncthreads();
  if (x < n && y < n)
    out[y * n + x] = tile[ty + 1][tx + 1] + c * (tile[ty][tx + 1] + tile[ty + 2][tx + 1] +
                                                 tile[ty + 1][tx] + tile[ty + 1][tx + 2]);
}
