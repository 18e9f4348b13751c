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
// An array of which a row and a column are stored to: all others are as they were at first.
extern "C" __global__ void marked_1(float* marks, int n, int at, float mark) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n && (x == at || y == at)) marks[y * n + x] = mark;
}
extern "C" __global__ void marked_2(float* next, const float* now, const float* marks, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  next[i] = 0.25f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n]) + marks[i] + marks[i - 1];
}
extern "C" __global__ void marked_3(float* next, const float* now, const float* marks, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || y < 2 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  next[i] = 0.25f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n]) + marks[i];
}
// A rim that reads beside what hardly anybody stores to.
extern "C" __global__ void slanted(float* next, const float* marks, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n - 1 && y < n - 1 && (x == 0 || y == 0)) next[y * n + x] += marks[(y + 1) * n + x + 1];
}
// Arrays of which each is read beside a place by a stage of its own; the first one is hardly stored
// to (marked_1).
extern "C" __global__ void staggered_1(float* c, const float* marks, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  c[y * n + x] = marks[y * n + x - 1] + marks[y * n + x + 1];
}
extern "C" __global__ void staggered_2(float* d, const float* b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  d[y * n + x] = b[(y - 1) * n + x] - b[(y + 1) * n + x] + b[y * n + x + 1];
}
extern "C" __global__ void staggered_3(float* b, const float* c, const float* d, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  b[y * n + x] = 0.5f * b[y * n + x] + 0.25f * c[y * n + x] + 0.125f * d[y * n + x];
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
