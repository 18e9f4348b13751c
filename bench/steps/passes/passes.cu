// Programs whose step is several kernels, as people write them; they know nothing of merged
// launches.
//
//   passes [PROGRAM | SIZE | steps=N]...      without them: all
//
// A line for each: NAME SIZE STEPS DIGEST | FIRST MEDIAN   microseconds of the first loop, of five
// more
#include "../arrays.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// --- Waves on a membrane -------------------------------------------------------------------------

__global__ void accelerate(float* v, const float* u, int nx, int ny, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  v[i] += c * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * u[i]);
}
__global__ void displace(float* u, const float* v, int nx, int ny, float dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) u[y * nx + x] += dt * v[y * nx + x];
}

// --- Maxwell's equations in the plane ------------------------------------------------------------

template <typename T> __global__ void field_y(T* ey, const T* hz, size_t n) {
  size_t j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i > 0 && i < n && j < n) ey[i * n + j] -= T(0.5) * (hz[i * n + j] - hz[(i - 1) * n + j]);
}
template <typename T> __global__ void field_x(T* ex, const T* hz, size_t n) {
  size_t j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j > 0 && j < n) ex[i * n + j] -= T(0.5) * (hz[i * n + j] - hz[i * n + j - 1]);
}
template <typename T> __global__ void field_z(T* hz, const T* ex, const T* ey, size_t n) {
  size_t j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i + 1 < n && j + 1 < n)
    hz[i * n + j] -=
        T(0.7) * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}

// The plane of a source, as PolyBench has it: what drives it is another value in each step.
__global__ void driven_y(const float* source, float* ey, const float* hz, int nx, int ny, int t) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) {
    if (i == 0)
      ey[i * ny + j] = source[t];
    else
      ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
  }
}
__global__ void driven_x(float* ex, const float* hz, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny && j > 0)
    ex[i * ny + j] = ex[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + (j - 1)]);
}
__global__ void driven_z(float* hz, const float* ex, const float* ey, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx - 1 && j < ny - 1)
    hz[i * ny + j] = hz[i * ny + j] - 0.7f * (ex[i * ny + (j + 1)] - ex[i * ny + j] +
                                              ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

// --- Waves that are pushed, by a force of the time -----------------------------------------------

__global__ void push(double* v, const double* u, int n, double time, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  double force = 0.01 * time * (1.0 - time);
  v[i] += dt * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4.0 * u[i] + force);
}
__global__ void swing(double* u, const double* v, int n, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] += dt * v[y * n + x];
}

// --- Heat by fluxes, with a conductivity ---------------------------------------------------------

__global__ void fluxes(double* fx, double* fy, const double* t, const double* k, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - 1 || y >= n - 1) return;
  int i = x + y * n;
  fx[i] = k[i] * (t[i + 1] - t[i]);
  fy[i] = k[i] * (t[i + n] - t[i]);
}
__global__ void conserve(double* t, const double* fx, const double* fy, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  int i = x + y * n;
  t[i] += 0.2 * (fx[i] - fx[i - 1] + fy[i] - fy[i - n]);
}

// --- Smoothing with two filters in turn, clamped at the rim --------------------------------------

__global__ void cross(float* out, const float* in, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int l = max(x - 1, 0), r = min(x + 1, w - 1), d = max(y - 1, 0), u = min(y + 1, h - 1);
  out[y * w + x] =
      0.2f * (in[y * w + x] + in[y * w + l] + in[y * w + r] + in[d * w + x] + in[u * w + x]);
}
__global__ void corners(float* out, const float* in, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x > w - 2 || y > h - 2) return;
  const float* at = in + y * w + x;
  out[y * w + x] = 0.25f * (at[-w - 1] + at[-w + 1] + at[w - 1] + at[w + 1]);
}

// --- A line of springs ---------------------------------------------------------------------------

__global__ void pull(float* speed, const float* place, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) speed[i] += 0.1f * (place[i - 1] - 2.0f * place[i] + place[i + 1]);
}
__global__ void move(float* place, const float* speed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) place[i] += 0.1f * speed[i];
}

// --- Pointers that the host exchanges from step to step ------------------------------------------

// One kernel, warmed by what hangs on the time.
__global__ void warm(float* next, const float* now, int n, float time) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  float source = x == y ? 0.01f * time * (1.0f - time) : 0.0f;
  next[i] =
      now[i] + 0.2f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4.0f * now[i]) + source;
}
// A step, then its rim.
__global__ void relax(double* next, const double* now, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    next[y * nx + x] = 0.25 * (now[y * nx + x - 1] + now[y * nx + x + 1] + now[(y - 1) * nx + x] +
                               now[(y + 1) * nx + x]);
}
__global__ void rim(double* next, int nx, int ny, double value) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1) next[y * nx + x] = value;
}
// A wave of three arrays in turn, and its source.
__global__ void leap(float* next, const float* now, const float* before, int n, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  next[i] = 2.0f * now[i] - before[i] +
            c * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4.0f * now[i]);
}
__global__ void inject(float* next, int n, int sx, int sy, float amplitude) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == sx && y == sy) next[y * n + x] += amplitude;
}
// Two species, each in a kernel that reads both as they were.
__global__ void prey(float* u_next, const float* u, const float* v, int n, float feed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  float around = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4.0f * u[i];
  u_next[i] = u[i] + 0.16f * around - u[i] * v[i] * v[i] + feed * (1.0f - u[i]);
}
__global__ void hunters(float* v_next, const float* v, const float* u, int n, float loss) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  float around = v[i - 1] + v[i + 1] + v[i - n] + v[i + n] - 4.0f * v[i];
  v_next[i] = v[i] + 0.08f * around + u[i] * v[i] * v[i] - loss * v[i];
}

// --- Rims by kernels whose threads lie along a line ----------------------------------------------

// A fluid that a lid drives, by Burgers' equations: the walls of both speeds by one kernel.
__global__ void advect(const double* u, const double* v, double* un, double* vn, int n, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  un[i] = u[i] - dt * (u[i] * (u[i] - u[i - 1]) + v[i] * (u[i] - u[i - n])) +
          0.1 * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4.0 * u[i]);
  vn[i] = v[i] - dt * (u[i] * (v[i] - v[i - 1]) + v[i] * (v[i] - v[i - n])) +
          0.1 * (v[i - 1] + v[i + 1] + v[i - n] + v[i + n] - 4.0 * v[i]);
}
__global__ void walls(double* u, double* v, int n, double lid) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u[i] = v[i] = 0.0;
  u[i * n] = v[i * n] = 0.0;
  u[i * n + n - 1] = v[i * n + n - 1] = 0.0;
  v[(n - 1) * n + i] = 0.0;
  if (i > 0 && i < n - 1) u[(n - 1) * n + i] = lid;
}
// Heat in a plate that is insulated: rows, then columns.
__global__ void spread(const float* __restrict__ now, float* __restrict__ next, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i == 0 || j == 0 || i >= nx - 1 || j >= ny - 1) return;
  const size_t c = size_t(j) * nx + i;
  next[c] = now[c] + 0.2f * (now[c - 1] + now[c + 1] + now[c - nx] + now[c + nx] - 4.0f * now[c]);
}
__global__ void insulate_rows(float* t, int nx, int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < nx - 1) {
    t[i] = t[nx + i];
    t[size_t(ny - 1) * nx + i] = t[size_t(ny - 2) * nx + i];
  }
}
__global__ void insulate_columns(float* t, int nx, int ny) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= ny) return;
  float* const row = t + size_t(j) * nx;
  row[0] = row[1];
  row[nx - 1] = row[nx - 2];
}
// Sound in a room: no speed through a wall, no slope of the pressure at it.
__global__ void blow(float* u, float* v, const float* p, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  u[i] -= 0.3f * (p[i + 1] - p[i]);
  v[i] -= 0.3f * (p[i + nx] - p[i]);
}
__global__ void press(float* p, const float* u, const float* v, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  p[i] -= 0.3f * (u[i] - u[i - 1] + v[i] - v[i - nx]);
}
__global__ void reflect(float* u, float* v, float* p, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < nx - 1) {
    v[i] = 0.0f;
    v[(ny - 2) * nx + i] = 0.0f;
    p[i] = p[nx + i];
    p[(ny - 1) * nx + i] = p[(ny - 2) * nx + i];
  }
  if (i > 0 && i < ny - 1) {
    u[i * nx] = 0.0f;
    u[i * nx + nx - 2] = 0.0f;
    p[i * nx] = p[i * nx + 1];
    p[i * nx + nx - 1] = p[i * nx + nx - 2];
  }
}

// --- Tori ----------------------------------------------------------------------------------------

// Two species that spread, in one kernel, and react, in another one.
__global__ void laplacians(float* lu, float* lv, const float* u, const float* v, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int l = (x + n - 1) % n, r = (x + 1) % n, d = (y + n - 1) % n, t = (y + 1) % n, row = y * n;
  lu[row + x] = u[row + l] + u[row + r] + u[d * n + x] + u[t * n + x] - 4.0f * u[row + x];
  lv[row + x] = v[row + l] + v[row + r] + v[d * n + x] + v[t * n + x] - 4.0f * v[row + x];
}
__global__ void react(float* u, float* v, const float* lu, const float* lv, int n, float feed,
                      float kill) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int i = y * n + x;
  float met = u[i] * v[i] * v[i];
  u[i] += 0.16f * lu[i] - met + feed * (1.0f - u[i]);
  v[i] += 0.08f * lv[i] + met - (feed + kill) * v[i];
}
// Two stages of Runge and Kutta.
__device__ double slope(const double* u, int x, int y, int n) {
  int l = x == 0 ? n - 1 : x - 1, r = x == n - 1 ? 0 : x + 1;
  int d = y == 0 ? n - 1 : y - 1, t = y == n - 1 ? 0 : y + 1;
  return u[y * n + l] + u[y * n + r] + u[d * n + x] + u[t * n + x] - 4.0 * u[y * n + x];
}
__global__ void half_step(double* middle, const double* u, int n, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) middle[y * n + x] = u[y * n + x] + 0.5 * dt * slope(u, x, y, n);
}
__global__ void whole_step(double* u, const double* middle, int n, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) u[y * n + x] += dt * slope(middle, x, y, n);
}

// --- Threads of the interior, and one for the corners
// ---------------------------------------------

struct Size {
  int rows, columns;
};
__device__ __forceinline__ size_t at(Size s, int row, int column) {
  return size_t(row) * s.columns + column;
}
__global__ void plate(const double* now, double* next, Size s, double k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, i = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i >= s.rows - 1 || j >= s.columns - 1) return;
  size_t c = at(s, i, j);
  next[c] =
      now[c] + k * (now[c - 1] + now[c + 1] + now[c - s.columns] + now[c + s.columns] - 4 * now[c]);
}
__global__ void plate_rims(double* t, Size s) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, last = s.rows - 1, end = s.columns - 1;
  if (k > 0 && k < end) {
    t[at(s, 0, k)] = t[at(s, 1, k)];
    t[at(s, last, k)] = t[at(s, last - 1, k)];
  }
  if (k > 0 && k < last) {
    t[at(s, k, 0)] = t[at(s, k, 1)];
    t[at(s, k, end)] = t[at(s, k, end - 1)];
  }
  if (k == 0) {
    t[at(s, 0, 0)] = t[at(s, 1, 1)];
    t[at(s, 0, end)] = t[at(s, 1, end - 1)];
    t[at(s, last, 0)] = t[at(s, last - 1, 1)];
    t[at(s, last, end)] = t[at(s, last - 1, end - 1)];
  }
}

struct Program {
  const char* name;
  unsigned bytes; // of an element
  bool plane;
  std::function<void(const std::vector<void*>& a, int n, int steps)> run;
};

static const dim3 block(32, 8);
static dim3 grid(int n) {
  return dim3((n + 31) / 32, (n + 7) / 8);
}
template <typename T> static T* as(void* p) {
  return static_cast<T*>(p);
}

template <typename T> static void fdtd(const std::vector<void*>& a, int n, int steps) {
  for (int t = 0; t < steps; ++t) {
    field_y<T><<<grid(n), block>>>(as<T>(a[0]), as<T>(a[2]), n);
    field_x<T><<<grid(n), block>>>(as<T>(a[1]), as<T>(a[2]), n);
    field_z<T><<<grid(n), block>>>(as<T>(a[2]), as<T>(a[1]), as<T>(a[0]), n);
  }
}

static const std::vector<Program> programs{
    {"membrane_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       for (int t = 0; t < steps; ++t) {
         accelerate<<<grid(n), block>>>(as<float>(a[0]), as<float>(a[1]), n, n, 0.1f);
         displace<<<grid(n), block>>>(as<float>(a[1]), as<float>(a[0]), n, n, 0.2f);
       }
     }},
    {"fdtd_f32", 4, true, fdtd<float>},
    {"fdtd_f64", 8, true, fdtd<double>},
    {"driven_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float* const source = as<float>(a[3]);
       for (int t = 0; t < steps; ++t) {
         driven_y<<<grid(n), block>>>(source, as<float>(a[0]), as<float>(a[2]), n, n, t);
         driven_x<<<grid(n), block>>>(as<float>(a[1]), as<float>(a[2]), n, n);
         driven_z<<<grid(n), block>>>(as<float>(a[2]), as<float>(a[1]), as<float>(a[0]), n, n);
       }
     }},
    {"pushed_f64", 8, true,
     [](const std::vector<void*>& a, int n, int steps) {
       for (int t = 0; t < steps; ++t) {
         push<<<grid(n), block>>>(as<double>(a[0]), as<double>(a[1]), n, 0.001 * t, 0.1);
         swing<<<grid(n), block>>>(as<double>(a[1]), as<double>(a[0]), n, 0.1);
       }
     }},
    {"fluxes_f64", 8, true,
     [](const std::vector<void*>& a, int n, int steps) {
       for (int t = 0; t < steps; ++t) {
         fluxes<<<grid(n), block>>>(as<double>(a[0]), as<double>(a[1]), as<double>(a[2]),
                                    as<double>(a[3]), n);
         conserve<<<grid(n), block>>>(as<double>(a[2]), as<double>(a[0]), as<double>(a[1]), n);
       }
     }},
    {"filters_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       for (int t = 0; t < steps; ++t) {
         cross<<<grid(n), block>>>(as<float>(a[1]), as<float>(a[0]), n, n);
         corners<<<grid(n), block>>>(as<float>(a[0]), as<float>(a[1]), n, n);
       }
     }},
    {"warm_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float *now = as<float>(a[0]), *next = as<float>(a[1]);
       for (int t = 0; t < steps; ++t) {
         warm<<<grid(n), block>>>(next, now, n, 0.001f * float(t));
         std::swap(now, next);
       }
     }},
    {"rimmed_f64", 8, true,
     [](const std::vector<void*>& a, int n, int steps) {
       double *now = as<double>(a[0]), *next = as<double>(a[1]);
       for (int t = 0; t < steps; ++t) {
         relax<<<grid(n), block>>>(next, now, n, n);
         rim<<<grid(n), block>>>(next, n, n, 1.0);
         std::swap(now, next);
       }
     }},
    {"source_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float *before = as<float>(a[0]), *now = as<float>(a[1]), *next = as<float>(a[2]);
       for (int t = 0; t < steps; ++t) {
         leap<<<grid(n), block>>>(next, now, before, n, 0.25f);
         inject<<<grid(n), block>>>(next, n, n / 3, n / 2, std::sin(0.1f * float(t)));
         float* const oldest = before;
         before = now;
         now = next;
         next = oldest;
       }
     }},
    {"species_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float *u = as<float>(a[0]), *v = as<float>(a[1]);
       float *u_next = as<float>(a[2]), *v_next = as<float>(a[3]);
       for (int t = 0; t < steps; ++t) {
         prey<<<grid(n), block>>>(u_next, u, v, n, 0.03f);
         hunters<<<grid(n), block>>>(v_next, v, u, n, 0.09f);
         std::swap(u, u_next);
         std::swap(v, v_next);
       }
     }},
    {"cavity_f64", 8, true,
     [](const std::vector<void*>& a, int n, int steps) {
       double *u = as<double>(a[0]), *v = as<double>(a[1]);
       double *un = as<double>(a[2]), *vn = as<double>(a[3]);
       for (int t = 0; t < steps; ++t) {
         advect<<<grid(n), block>>>(u, v, un, vn, n, 0.01);
         walls<<<(n + 127) / 128, 128>>>(un, vn, n, 1.0);
         std::swap(u, un);
         std::swap(v, vn);
       }
     }},
    {"insulated_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float *now = as<float>(a[0]), *next = as<float>(a[1]);
       for (int t = 0; t < steps; ++t) {
         spread<<<grid(n), block>>>(now, next, n, n);
         insulate_rows<<<(n + 255) / 256, 256>>>(next, n, n);
         insulate_columns<<<(n + 255) / 256, 256>>>(next, n, n);
         std::swap(now, next);
       }
     }},
    {"room_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float *u = as<float>(a[0]), *v = as<float>(a[1]), *p = as<float>(a[2]);
       for (int t = 0; t < steps; ++t) {
         blow<<<grid(n), block>>>(u, v, p, n, n);
         press<<<grid(n), block>>>(p, u, v, n, n);
         reflect<<<(n + 255) / 256, 256>>>(u, v, p, n, n);
       }
     }},
    {"reaction_f32", 4, true,
     [](const std::vector<void*>& a, int n, int steps) {
       float *u = as<float>(a[0]), *v = as<float>(a[1]);
       float *lu = as<float>(a[2]), *lv = as<float>(a[3]);
       for (int t = 0; t < steps; ++t) {
         laplacians<<<grid(n), block>>>(lu, lv, u, v, n);
         react<<<grid(n), block>>>(u, v, lu, lv, n, 0.03f, 0.06f);
       }
     }},
    {"periodic_f64", 8, true,
     [](const std::vector<void*>& a, int n, int steps) {
       for (int t = 0; t < steps; ++t) {
         half_step<<<grid(n), block>>>(as<double>(a[1]), as<double>(a[0]), n, 0.1);
         whole_step<<<grid(n), block>>>(as<double>(a[0]), as<double>(a[1]), n, 0.1);
       }
     }},
    {"plate_f64", 8, true,
     [](const std::vector<void*>& a, int n, int steps) {
       double *now = as<double>(a[0]), *next = as<double>(a[1]);
       for (int t = 0; t < steps; ++t) {
         plate<<<grid(n), block>>>(now, next, Size{n, n}, 0.2);
         plate_rims<<<(n + 255) / 256, 256>>>(next, Size{n, n});
         std::swap(now, next);
       }
     }},
    {"springs_f32", 4, false, [](const std::vector<void*>& a, int n, int steps) {
       for (int t = 0; t < steps; ++t) {
         pull<<<(n + 255) / 256, 256>>>(as<float>(a[0]), as<float>(a[1]), n);
         move<<<(n + 255) / 256, 256>>>(as<float>(a[1]), as<float>(a[0]), n);
       }
     }}};

static void measure(const Program& program, int size, int steps) {
  const int n = program.plane ? size : size * size;
  const size_t count = size_t(size) * size;
  std::vector<void*> arrays;
  std::vector<unsigned char> bytes(count * program.bytes);
  for (int a = 0; a < 4; ++a) {
    for (size_t i = 0; i < count; ++i) {
      const double value = double((i * 7 + a * 13) % 1009) / 1009;
      if (program.bytes == 4)
        reinterpret_cast<float*>(bytes.data())[i] = float(value);
      else
        reinterpret_cast<double*>(bytes.data())[i] = value;
    }
    arrays.push_back(nullptr);
    CHECK(cudaMalloc(&arrays.back(), bytes.size()));
    CHECK(cudaMemcpy(arrays.back(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
  std::vector<double> times;
  for (int loop = 0; loop < 6; ++loop) {
    CHECK(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    program.run(arrays, n, steps);
    CHECK(cudaDeviceSynchronize());
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  unsigned long long digest = 0xcbf29ce484222325;
  for (void* array : arrays) {
    CHECK(cudaMemcpy(bytes.data(), array, bytes.size(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      unsigned long long word = 0;
      memcpy(&word, &bytes[i], 8);
      digest = (digest ^ word) * 0x100000001b3;
    }
    CHECK(cudaFree(array));
  }
  const double first = times[0];
  std::sort(times.begin() + 1, times.end());
  printf("%s %d %d %016llx | %.1f %.1f\n", program.name, size, steps, digest, first, times[3]);
  fflush(stdout);
}

int main(int count, char** words) {
  std::vector<int> sizes, steps;
  std::vector<std::string> names;
  for (int n = 1; n < count; ++n)
    if (const int number = atoi(words[n]))
      sizes.push_back(number);
    else if (strncmp(words[n], "steps=", 6) == 0)
      steps.push_back(atoi(words[n] + 6));
    else
      names.push_back(words[n]);
  if (sizes.empty()) sizes = {256, 1000, 2048, 4096, 8192};
  if (steps.empty()) steps = {7, 100, 1000};
  for (const Program& program : programs) {
    if (!names.empty() && std::find(names.begin(), names.end(), program.name) == names.end())
      continue;
    for (const int size : sizes)
      for (const int number : steps)
        if (double(size) * size * number <= 1e10) measure(program, size, number);
  }
}
