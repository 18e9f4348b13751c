// Tori, in steps of several kernels: nvcc -std=c++17 -O2 -arch=sm_90 -ptx tori.cu

#define PLACE                                                                                      \
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y

// Two species: how they spread, then how they react.
extern "C" __global__ void species_1(float* lu, float* lv, const float* u, const float* v, int nx,
                                     int ny) {
  PLACE;
  if (x >= nx || y >= ny) return;
  int l = (x + nx - 1) % nx, r = (x + 1) % nx, d = (y + ny - 1) % ny, t = (y + 1) % ny,
      row = y * nx;
  lu[row + x] = u[row + l] + u[row + r] + u[d * nx + x] + u[t * nx + x] - 4 * u[row + x];
  lv[row + x] = v[row + l] + v[row + r] + v[d * nx + x] + v[t * nx + x] - 4 * v[row + x];
}
extern "C" __global__ void species_2(float* u, float* v, const float* lu, const float* lv, int nx,
                                     int ny) {
  PLACE;
  if (x >= nx || y >= ny) return;
  int i = y * nx + x;
  float met = u[i] * v[i] * v[i];
  u[i] += 0.16f * lu[i] - met + 0.03f * (1 - u[i]);
  v[i] += 0.08f * lv[i] + met - 0.09f * v[i];
}

// One array to another and back.
extern "C" __global__ void split_1(double* b, const double* a, int nx, int ny) {
  PLACE;
  if (x < nx && y < ny) b[y * nx + x] = a[y * nx + x] - 0.1 * a[y * nx + (x == 0 ? nx - 1 : x - 1)];
}
extern "C" __global__ void split_2(double* a, const double* b, int nx, int ny) {
  PLACE;
  if (x < nx && y < ny) a[y * nx + x] = b[y * nx + x] - 0.1 * b[(y == 0 ? ny - 1 : y - 1) * nx + x];
}

// A channel: around along x, walls along y, whose kernel knows nothing of a torus; values hang on
// places.
extern "C" __global__ void channel_1(float* next, const float* now, int nx, int ny) {
  PLACE;
  if (x >= nx || y < 1 || y >= ny - 1) return;
  int i = y * nx + x, l = y * nx + (x > 0 ? x - 1 : nx - 1), r = y * nx + (x < nx - 1 ? x + 1 : 0);
  next[i] = 0.2f * (now[i] + now[l] + now[r] + now[i - nx] + now[i + nx]) + 0.01f * x - 0.02f * y;
}
extern "C" __global__ void channel_2(float* next, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= nx) return;
  next[x] = next[nx + x];
  next[(ny - 1) * nx + x] = 0.5f * next[(ny - 2) * nx + x];
}
// Something that is done within.
extern "C" __global__ void channel_3(float* now, const float* next, int nx, int ny) {
  PLACE;
  if (x < 1 || x >= nx - 1 || y >= ny) return;
  int i = y * nx + x;
  now[i] = next[i - 1] - next[i + 1];
}
// Rows that are longer than the torus; the others store or read behind it.
extern "C" __global__ void wide_1(float* next, const float* now, int nx, int ny, int pitch) {
  PLACE;
  if (x >= nx || y < 1 || y >= ny - 1) return;
  int row = y * pitch, l = row + (x > 0 ? x - 1 : nx - 1);
  next[row + x] = 0.2f * (now[row + x] + now[l]);
}
extern "C" __global__ void wide_2(float* now, const float* next, int w, int ny, int pitch, int nx) {
  PLACE;
  if (x >= w || y >= ny) return;
  now[y * pitch + x] = 2 * next[y * pitch + x];
}
extern "C" __global__ void wide_3(float* now, const float* next, int w, int ny, int pitch, int nx) {
  PLACE;
  if (x < 1 || x >= w || y >= ny) return;
  now[y * pitch + x] = next[y * pitch + x - 1] - next[y * pitch + x + 1];
}
// Modulo another size.
extern "C" __global__ void wide_4(float* now, const float* next, int w, int ny, int pitch, int nx) {
  PLACE;
  if (x >= w || y >= ny) return;
  now[y * pitch + x] = next[y * pitch + (x == 0 ? w - 1 : x - 1)];
}
