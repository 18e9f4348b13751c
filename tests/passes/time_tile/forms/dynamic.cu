// Tiles in dynamic shared memory: how they lie follows from the shape of the blocks, which only a
// launch says. nvcc -arch=sm_90 -O3 -ptx makes dynamic.ptx of this.

// Threads at the block's edges load what lies beside it.
extern "C" __global__ void edges(const float* in, float* out, int nx, int ny) {
  extern __shared__ float s[];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int pitch = blockDim.x + 2, at = (threadIdx.y + 1) * pitch + threadIdx.x + 1;
  if (x < nx && y < ny) {
    s[at] = in[y * nx + x];
    if (threadIdx.x == 0 && x > 0) s[at - 1] = in[y * nx + x - 1];
    if (threadIdx.x == blockDim.x - 1 && x < nx - 1) s[at + 1] = in[y * nx + x + 1];
    if (threadIdx.y == 0 && y > 0) s[at - pitch] = in[(y - 1) * nx + x];
    if (threadIdx.y == blockDim.y - 1 && y < ny - 1) s[at + pitch] = in[(y + 1) * nx + x];
  }
  __syncthreads();
  if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1) return;
  out[y * nx + x] = 0.25f * (s[at - 1] + s[at + 1] + s[at - pitch] + s[at + pitch]);
}

// The first threads load both ends; a barrier in between, and one behind all of it, tell nothing.
#define R 3
extern "C" __global__ void line(const float* in, float* out, int n) {
  extern __shared__ float s[];
  const int x = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + R;
  s[at] = x < n ? in[x] : 0.0f;
  __syncthreads();
  if (threadIdx.x < R) {
    s[at - R] = x >= R ? in[x - R] : 0.0f;
    s[at + blockDim.x] = x + (int)blockDim.x < n ? in[x + blockDim.x] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = -R; k <= R; ++k)
    sum += s[at + k] * (1.0f / (2 * R + 1));
  if (x >= R && x < n - R) out[x] = sum;
  __syncthreads();
}

// All threads fill it together, as often as it takes.
extern "C" __global__ void together(const float* in, float* out, int nx, int ny) {
  extern __shared__ float s[];
  const int w = blockDim.x + 2, h = blockDim.y + 2;
  const int x0 = blockIdx.x * blockDim.x - 1, y0 = blockIdx.y * blockDim.y - 1;
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < w * h; k += blockDim.x * blockDim.y) {
    const int x = x0 + k % w, y = y0 + k / w;
    s[k] = x >= 0 && x < nx && y >= 0 && y < ny ? in[y * nx + x] : 0.0f;
  }
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int at = (threadIdx.y + 1) * w + threadIdx.x + 1;
  out[y * nx + x] = 0.5f * s[at] + 0.125f * (s[at - 1] + s[at + 1] + s[at - w] + s[at + w]);
}

// Two tiles in it, one behind the other.
extern "C" __global__ void halves(const float* in, const float* k, float* out, int nx, int ny) {
  extern __shared__ float s[];
  float* const u = s;
  float* const c = s + (blockDim.x + 2) * blockDim.y;
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int w = blockDim.x + 2, at = threadIdx.y * w + threadIdx.x + 1;
  if (x < nx && y < ny) {
    u[at] = in[y * nx + x];
    c[at] = k[y * nx + x];
    if (threadIdx.x == 0 && x > 0) {
      u[at - 1] = in[y * nx + x - 1];
      c[at - 1] = k[y * nx + x - 1];
    }
    if (threadIdx.x == blockDim.x - 1 && x < nx - 1) u[at + 1] = in[y * nx + x + 1];
  }
  __syncthreads();
  if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1) return;
  const float to_right = c[at] * (u[at + 1] - u[at]), to_left = c[at - 1] * (u[at] - u[at - 1]);
  out[y * nx + x] = u[at] + to_right - to_left + 0.1f * in[(y - 1) * nx + x];
}

// Two names for the same memory.
extern "C" __global__ void names(const float* in, float* out, int n) {
  extern __shared__ float s[];
  extern __shared__ int t[];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x + 1] = in[x];
  if (threadIdx.x == 0 && x > 0) s[0] = in[x - 1];
  if (threadIdx.x == blockDim.x - 1 && x < n - 1) t[threadIdx.x + 2] = __float_as_int(in[x + 1]);
  __syncthreads();
  if (x > 0 && x < n - 1) out[x] = 0.5f * (s[threadIdx.x] + s[threadIdx.x + 2]);
}
