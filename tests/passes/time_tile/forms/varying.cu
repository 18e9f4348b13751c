// PolyBench's, in its style: the source is read at the step's number.
extern "C" __global__ void driven_1(const float* fict, float* ey, const float* hz, int nx, int ny,
                                    int t) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) {
    if (i == 0)
      ey[i * ny + j] = fict[t];
    else
      ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
  }
}
extern "C" __global__ void driven_2(float* ex, const float* hz, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny && j > 0)
    ex[i * ny + j] = ex[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + j - 1]);
}
extern "C" __global__ void driven_3(float* hz, const float* ex, const float* ey, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx - 1 && j < ny - 1)
    hz[i * ny + j] = hz[i * ny + j] - 0.7f * (ex[i * ny + j + 1] - ex[i * ny + j] +
                                              ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
// Time and a step that grows.
extern "C" __global__ void pushed_1(double* v, const double* u, int n, double time,
                                    float strength) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  double push = time * time * 0.25 + double(strength) * 2.0;
  v[i] += 0.1 * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4.0 * u[i]) + push;
}
extern "C" __global__ void pushed_2(double* u, const double* v, int n, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] += dt * v[y * n + x];
}
// A guard that hangs on the step; an element that does.
extern "C" __global__ void late_1(float* v, const float* u, int n, int t) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < t || y < 1 || x >= n - 1 || y >= n - 1) return;
  v[y * n + x] += u[y * n + x - 1] + u[y * n + x + 1];
}
extern "C" __global__ void late_2(float* u, const float* v, int n, int t) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] = u[y * n + x] * 0.5f + v[y * n + x] * float(t);
}
extern "C" __global__ void shifted_1(float* v, const float* u, int n, int t) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  v[y * n + x] += u[y * n + x - t] + u[y * n + x + 1];
}
// The store of few places first.
extern "C" __global__ void first_1(float* ey, const float* hz, int nx, int ny, float value) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  if (i != 0)
    ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
  else
    ey[i * ny + j] = value;
}
