// Steps whose blocks have a tile with numbers beside the array, a size that is written in the
// program, or barriers at which nothing is handed on.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx blocks.cu

constexpr int bx = 16, by = 8;

// An element, or 0 beside the array.
template <class T> __device__ T at(const T* in, int x, int y, int nx, int ny, T beside) {
  return x >= 0 && x < nx && y >= 0 && y < ny ? in[y * nx + x] : beside;
}

extern "C" __global__ void zero_rim(const float* __restrict__ in, float* __restrict__ out, int nx,
                                    int ny) {
  __shared__ float tile[by + 2][bx + 2];
  const int i = threadIdx.x + 1, j = threadIdx.y + 1, x = blockIdx.x * bx + threadIdx.x,
            y = blockIdx.y * by + threadIdx.y;
  tile[j][i] = at(in, x, y, nx, ny, 0.0f);
  if (threadIdx.x == 0) tile[j][0] = at(in, x - 1, y, nx, ny, 0.0f);
  if (threadIdx.x == bx - 1) tile[j][bx + 1] = at(in, x + 1, y, nx, ny, 0.0f);
  if (threadIdx.y == 0) tile[0][i] = at(in, x, y - 1, nx, ny, 0.0f);
  if (threadIdx.y == by - 1) tile[by + 1][i] = at(in, x, y + 1, nx, ny, 0.0f);
  __syncthreads();
  if (x < nx && y < ny)
    out[y * nx + x] = tile[j][i] + 0.2f * (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] +
                                           tile[j + 1][i] - 4 * tile[j][i]);
}

// Two numbers, one of them below 0, and elements that are narrower than registers.
extern "C" __global__ void signed_rim(const signed char* __restrict__ in,
                                      signed char* __restrict__ out, int nx, int ny) {
  __shared__ signed char tile[by + 2][bx + 2];
  const int i = threadIdx.x + 1, j = threadIdx.y + 1, x = blockIdx.x * blockDim.x + threadIdx.x,
            y = blockIdx.y * blockDim.y + threadIdx.y;
  const signed char along_x = -3, along_y = 7;
  if (x < nx && y < ny) {
    tile[j][i] = in[y * nx + x];
    if (x == 0)
      tile[j][0] = along_x;
    else if (threadIdx.x == 0)
      tile[j][0] = in[y * nx + x - 1];
    if (x == nx - 1)
      tile[j][i + 1] = along_x;
    else if (threadIdx.x == bx - 1)
      tile[j][bx + 1] = in[y * nx + x + 1];
    if (threadIdx.y == 0) tile[0][i] = y == 0 ? along_y : in[(y - 1) * nx + x];
    if (y == ny - 1)
      tile[j + 1][i] = along_y;
    else if (threadIdx.y == by - 1)
      tile[by + 1][i] = in[(y + 1) * nx + x];
  }
  __syncthreads();
  if (x < nx && y < ny)
    out[y * nx + x] = (tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + 3 * tile[j + 1][i]) / 4;
}

// The size is written in the program; the places of a row are those of threads along y.
extern "C" __global__ void written_size(const float* in, float* out, int nx, int ny) {
  const int y = blockIdx.x * bx + threadIdx.x, x = blockIdx.y * by + threadIdx.y;
  const float* const here = in + y * nx + x;
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
    *(out + y * nx + x) = 0.25f * (here[-1] + here[1] + *(here - nx) + *(here + nx));
}

// Nobody has anything to wait for.
extern "C" __global__ void idle(const float* __restrict__ in, float* __restrict__ out, int nx,
                                int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int i = y * nx + x;
  __syncthreads();
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
  __syncthreads();
}
