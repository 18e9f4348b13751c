// Steps of several kernels, as people write them: stages of one sequence have one prefix.

// --- Waves: speeds from heights, then heights from speeds
// -----------------------------------------

extern "C" __global__ void wave_1(float* v, const float* u, int nx, int ny, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  v[i] += c * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * u[i]);
}

extern "C" __global__ void wave_2(float* u, const float* v, int nx, int ny, float dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) u[y * nx + x] += dt * v[y * nx + x];
}

// --- Fields on staggered grids
// --------------------------------------------------------------------

extern "C" __global__ void fdtd_1(double* ey, const double* hz, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && i < nx && j < ny) ey[i * ny + j] -= 0.5 * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
}

extern "C" __global__ void fdtd_2(double* ex, const double* hz, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j > 0 && j < ny) ex[i * ny + j] -= 0.5 * (hz[i * ny + j] - hz[i * ny + j - 1]);
}

extern "C" __global__ void fdtd_3(double* hz, const double* ex, const double* ey, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx - 1 && j < ny - 1)
    hz[i * ny + j] -=
        0.7 * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

// --- Along a line, with coefficients
// --------------------------------------------------------------

extern "C" __global__ void line_1(double* flux, const double* t, const double* k, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) flux[i] = k[i] * (t[i + 1] - t[i]);
}

extern "C" __global__ void line_2(double* t, const double* flux, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) t[i] = t[i] + 0.25 * (flux[i] - flux[i - 1]);
}

// --- From one array to the other and back
// ---------------------------------------------------------

extern "C" __global__ void smooth_1(float* b, const float* a, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int l = max(x - 1, 0), r = min(x + 1, n - 1), d = max(y - 1, 0), u = min(y + 1, n - 1);
  b[y * n + x] = 0.2f * (a[y * n + x] + a[y * n + l] + a[y * n + r] + a[d * n + x] + a[u * n + x]);
}

extern "C" __global__ void smooth_2(float* a, const float* b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 1 && y > 1 && x < n - 2 && y < n - 2)
    a[y * n + x] =
        0.25f * (b[y * n + x - 2] + b[y * n + x + 2] + b[(y - 2) * n + x] + b[(y + 2) * n + x]);
}

// Behind both: read beside a place again, after it was stored to.
extern "C" __global__ void smooth_3(float* c, const float* a, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    c[y * n + x] = 0.5f * c[y * n + x] + 0.25f * (a[y * n + x - 1] + a[(y + 1) * n + x]);
}

// --- Two fields in each kernel, whole numbers, a branch
// -------------------------------------------

extern "C" __global__ void cells_1(unsigned char* alive, unsigned* age, const unsigned* around,
                                   int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int i = y * w + x;
  unsigned n = around[i], was = age[i];
  if (n == 3 || (n == 2 && was > 0))
    age[i] = was + 1;
  else
    age[i] = 0;
  alive[i] = n == 3 || (n == 2 && was > 0);
}

extern "C" __global__ void cells_2(unsigned* around, const unsigned char* alive, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) return;
  unsigned sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) sum += alive[(y + dy) * w + x + dx];
  around[y * w + x] = sum;
}

// --- No steps together
// ----------------------------------------------------------------------------

extern "C" __global__ void bad_1(float* u, const float* v, int n) { // reads what it writes
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x > 0 && x < n) u[x] += v[x] * u[x - 1];
}
extern "C" __global__ void bad_2(float* v, const float* u, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x > 0 && x < n) v[x] += u[x - 1];
}
extern "C" __global__ void bad_3(float* u, const float* v, int n) { // turned around
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) u[n - 1 - x] += v[n - 1 - x];
}
extern "C" __global__ void bad_4(float* v, const float* u, int n) { // nobody reads beside a place
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) v[x] += u[x];
}
extern "C" __global__ void bad_5(float* u, const float* v, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) u[x] += v[x];
}
