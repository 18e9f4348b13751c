// Stages whose threads are not the places that they store to, and single threads, as people write
// them: nvcc -std=c++17 -O2 -arch=sm_90 -ptx places.cu

#define LINE int i = blockIdx.x * blockDim.x + threadIdx.x

// Threads of the interior, in the plane and along the rims; one thread for the corners.
extern "C" __global__ void plate_1(float* next, const float* now, int n, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  next[i] =
      now[i] + k * (now[i + 1] + now[i - 1] + now[i + n] + now[i - n] - 4 * now[i]) + 0.01f * x;
}
extern "C" __global__ void plate_2(float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i >= n - 1) return;
  t[i] = t[n + i];
  t[(n - 1) * n + i] = t[(n - 2) * n + i];
  t[i * n] = t[i * n + 1];
  t[i * n + n - 1] = t[i * n + n - 2];
}
extern "C" __global__ void plate_3(float* t, int n) {
  t[0] = 0.5f * (t[1] + t[n]);
  t[n - 1] = 0.5f * (t[n - 2] + t[2 * n - 1]);
  t[(n - 1) * n] = 0.5f * (t[(n - 2) * n] + t[(n - 1) * n + 1]);
  t[n * n - 1] = 0.5f * (t[n * n - 2] + t[(n - 1) * n - 1]);
}
extern "C" __global__ void plate_4(float* now, const float* next, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) now[y * n + x] = next[y * n + x];
}

// Sizes in a structure, corners by a thread of the line.
struct Grid {
  int nx, ny;
};
__device__ __forceinline__ size_t at(Grid g, int i, int j) {
  return (size_t)i * g.ny + j;
}
extern "C" __global__ void neumann_1(const double* a, double* b, Grid g, double k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, i = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i >= g.nx - 1 || j >= g.ny - 1) return;
  size_t c = at(g, i, j);
  b[c] = a[c] + k * (a[c - 1] + a[c + 1] + a[c - g.ny] + a[c + g.ny] - 4 * a[c]);
}
extern "C" __global__ void neumann_2(double* b, Grid g) {
  LINE;
  if (i > 0 && i < g.ny - 1) {
    b[at(g, 0, i)] = b[at(g, 1, i)];
    b[at(g, g.nx - 1, i)] = b[at(g, g.nx - 2, i)];
  }
  if (i > 0 && i < g.nx - 1) {
    b[at(g, i, 0)] = b[at(g, i, 1)];
    b[at(g, i, g.ny - 1)] = b[at(g, i, g.ny - 2)];
  }
  if (i == 0) {
    b[at(g, 0, 0)] = b[at(g, 1, 1)];
    b[at(g, 0, g.ny - 1)] = b[at(g, 1, g.ny - 2)];
    b[at(g, g.nx - 1, 0)] = b[at(g, g.nx - 2, 1)];
    b[at(g, g.nx - 1, g.ny - 1)] = b[at(g, g.nx - 2, g.ny - 2)];
  }
}
// Back again, by threads that are places.
extern "C" __global__ void neumann_3(double* a, const double* b, Grid g) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < g.nx && j < g.ny) a[at(g, i, j)] = b[at(g, i, j)] + 0.001 * j;
}

// n by n cells with ghosts around them.
extern "C" __global__ void lax_1(const float* h, const float* q, float* h2, float* q2, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i > n || j > n) return;
  int p = n + 2, c = j * p + i;
  h2[c] = 0.25f * (h[c - 1] + h[c + 1] + h[c - p] + h[c + p]) - 0.1f * (q[c + 1] - q[c - 1]);
  q2[c] = 0.25f * (q[c - 1] + q[c + 1] + q[c - p] + q[c + p]) - 0.1f * (h[c + 1] - h[c - 1]);
}
extern "C" __global__ void lax_2(float* h, float* q, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x + 1, p = n + 2;
  if (k > n) return;
  h[k] = h[p + k];
  h[(n + 1) * p + k] = h[n * p + k];
  q[k * p] = -q[k * p + 1];
  q[k * p + n + 1] = -q[k * p + n];
}

// A source in one place, by one thread, or by the first one of a block.
extern "C" __global__ void source_1(float* v, const float* u, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  v[i] += 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * u[i]);
}
extern "C" __global__ void source_2(float* u, const float* v, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] += 0.1f * v[y * n + x];
}
extern "C" __global__ void source_3(float* u, int n, int sx, int sy, float value) {
  u[sy * n + sx] += value;
}
extern "C" __global__ void source_4(float* u, int n, int sx, int sy, float value) {
  if (threadIdx.x == 0) u[sy * n + sx] += value;
}
// One element, which all threads of a line store to.
extern "C" __global__ void source_5(float* u, int n, int sx, int sy, float value) {
  LINE;
  if (i < n) u[sy * n + sx] = value * i;
}
// A thread that knows where it is in its block.
extern "C" __global__ void source_6(float* u, int n, int sx, int sy, float value) {
  LINE;
  if (i + 1 < n && threadIdx.x != 3) u[i + 1] = value;
}
// Two threads store to a corner.
extern "C" __global__ void source_7(float* u, int n, int sx, int sy, float value) {
  LINE;
  if (i == 0) u[n - 1] = value;
  if (i + 1 < n) u[i + 1] = 2 * value;
}
// How many blocks there are.
extern "C" __global__ void source_8(float* u, int n, int sx, int sy, float value) {
  LINE;
  if (i + 1 < gridDim.x * 2) u[i + 1] = value;
}
