// Steps whose pointers the host exchanges, so that each kernel is launched with other arrays every
// other time. A plate with a source that moves with the time, in one kernel.
extern "C" __global__ void heated(float* next, const float* now, int nx, int ny, float time) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float source = x == y ? time * 0.125f : 0.0f;
  next[i] =
      now[i] + 0.2f * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4 * now[i]) + source;
}
// A step, and its rim in a kernel of its own, whose value grows.
template <class Real> __device__ void step(Real* next, const Real* now, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= nx - 1 || y >= ny - 1) return;
  next[y * nx + x] = Real(0.25) * (now[y * nx + x - 1] + now[y * nx + x + 1] +
                                   now[(y - 1) * nx + x] + now[(y + 1) * nx + x]);
}
extern "C" __global__ void bounded_1(double* next, const double* now, int nx, int ny) {
  step(next, now, nx, ny);
}
extern "C" __global__ void bounded_2(double* next, int nx, int ny, double value) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny && (x == 0 || y == 0 || x == nx - 1 || y == ny - 1))
    next[y * nx + x] = value;
}
// A wave of three arrays in turn, pushed at one place.
extern "C" __global__ void pushed_wave_1(float* next, const float* now, const float* before,
                                         int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  next[i] = 2 * now[i] - before[i] +
            0.3f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4 * now[i]);
}
extern "C" __global__ void pushed_wave_2(float* next, int n, int at, float push) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == at && y == at) next[y * n + x] += push;
}
// Two fields, each with a kernel that reads both as they were: four arrays.
extern "C" __global__ void grown(float* u_next, const float* u, const float* v, int n, float feed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  float around = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * u[i];
  u_next[i] = u[i] + 0.16f * around - u[i] * v[i] * v[i] + feed * (1 - u[i]);
}
extern "C" __global__ void eaten(float* v_next, const float* v, const float* u, int n, float feed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  float around = v[i - 1] + v[i + 1] + v[i - n] + v[i + n] - 4 * v[i];
  v_next[i] = v[i] + 0.08f * around + u[i] * v[i] * v[i] - (feed + 0.06f) * v[i];
}
// In one dimension.
extern "C" __global__ void drifted(double* next, const double* now, int n, double by, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) next[i] = now[i] - by * (now[i + 1] - now[i - 1]) + step;
}
