// Rims by kernels whose threads lie along a line, beside stages of two dimensions, as people write
// them: kernels of one sequence have one prefix.

// --- Burgers' equation: one kernel for all rims, corners are stored to twice
// --------------------------------------------------------------------------------------------------

extern "C" __global__ void burgers_1(const double* u, const double* v, double* un, double* vn,
                                     int nx, int ny, double dt) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    int i = y * nx + x;
    un[i] = u[i] - dt * (u[i] * (u[i] - u[i - 1]) + v[i] * (u[i] - u[i - nx]));
    vn[i] = v[i] - dt * (u[i] * (v[i + 1] - v[i]) + v[i] * (v[i + nx] - v[i]));
  }
}

extern "C" __global__ void burgers_2(double* u, double* v, const double* un, const double* vn,
                                     int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) {
    u[y * nx + x] = un[y * nx + x];
    v[y * nx + x] = vn[y * nx + x];
  }
}

extern "C" __global__ void burgers_3(double* u, double* v, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) {
    u[i] = 1;
    u[(ny - 1) * nx + i] = 1;
    v[i] = 1;
    v[(ny - 1) * nx + i] = 1;
  }
  if (i < ny) {
    u[i * nx] = 1;
    u[i * nx + nx - 1] = 1;
    v[i * nx] = 1;
    v[i * nx + nx - 1] = 1;
  }
}

// --- Heat with insulated rims: a kernel for rows, one for columns, 64-bit indices
// --------------------------------------------------------------------------------------------------

extern "C" __global__ void heat_1(const float* __restrict__ a, float* __restrict__ b, int nx,
                                  int ny, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
  size_t c = (size_t)j * nx + i;
  b[c] = a[c] + k * (a[c - 1] + a[c + 1] + a[c - nx] + a[c + nx] - 4 * a[c]);
}

extern "C" __global__ void heat_2(float* __restrict__ b, int nx, int ny) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i > 0 && i < nx - 1) {
    b[i] = b[nx + i];
    b[(size_t)(ny - 1) * nx + i] = b[(size_t)(ny - 2) * nx + i];
  }
}

extern "C" __global__ void heat_3(float* __restrict__ b, int nx, int ny) {
  const int j = threadIdx.x + blockIdx.x * blockDim.x;
  if (j >= ny) return;
  b[(size_t)j * nx] = b[(size_t)j * nx + 1];
  b[(size_t)j * nx + nx - 1] = b[(size_t)j * nx + nx - 2];
}

extern "C" __global__ void heat_4(const float* __restrict__ b, float* __restrict__ a, int nx,
                                  int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) a[j * nx + i] = b[j * nx + i];
}

// --- A lid that drives a cavity: one kernel for the rims of three arrays, walls and slopes
// --------------------------------------------------------------------------------------------------

extern "C" __global__ void cavity_1(float* u, float* v, const float* p, int n, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  u[y * n + x] -= k * (p[y * n + x + 1] - p[y * n + x - 1]);
  v[y * n + x] -= k * (p[(y + 1) * n + x] - p[(y - 1) * n + x]);
}

extern "C" __global__ void cavity_2(float* u, float* v, float* p, int n, float lid) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u[i] = 0;
  u[i * n] = 0;
  u[i * n + n - 1] = 0;
  v[i] = v[(n - 1) * n + i] = v[i * n] = v[i * n + n - 1] = 0;
  if (i > 0 && i < n - 1) {
    u[(n - 1) * n + i] = lid;
    p[i] = p[n + i];
    p[(n - 1) * n + i] = p[(n - 2) * n + i];
    p[i * n] = p[i * n + 1];
    p[i * n + n - 1] = p[i * n + n - 2];
  }
}

extern "C" __global__ void cavity_3(float* p, const float* u, const float* v, int n, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    p[y * n + x] -= k * (u[y * n + x + 1] - u[y * n + x] + v[(y + 1) * n + x] - v[y * n + x]);
}

// --- Rows and columns that cross: beside the core `mix_1`
// -----------------------------------------

extern "C" __global__ void mix_1(const float* a, float* b, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    b[y * nx + x] =
        0.25f * (a[y * nx + x - 1] + a[y * nx + x + 1] + a[(y - 1) * nx + x] + a[(y + 1) * nx + x]);
}

extern "C" __global__ void mix_2(float* a, const float* b, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) a[y * nx + x] = b[y * nx + x];
}

// One thread stores the corner twice: first 1, then 2.
extern "C" __global__ void corner_of_one(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ny) b[i * nx] = 1;
  if (i < nx) b[i] = 2;
}

// It is one thread's if nx is ny.
extern "C" __global__ void far_corner(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ny) b[i * nx + nx - 1] = 1;
  if (i < nx) b[(ny - 1) * nx + i] = 2;
}

// The thread of the corner reads there what it has stored.
extern "C" __global__ void read_back(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) b[i] = 3;
  if (i < nx) b[nx + i] = b[i] + 1;
}

// And here what it is going to store.
extern "C" __global__ void read_ahead(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) {
    float there = b[nx + i];
    b[nx + i] = 3;
    b[i] = there;
  }
}

// Two threads store other values to one corner.
extern "C" __global__ void corner_of_two(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) b[(ny - 1) * nx + i] = 1;
  if (i < ny) b[i * nx] = 2;
}

// A row reads what another thread stores as a column.
extern "C" __global__ void slope_across(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) b[i] = 0;
  if (i < ny) b[i * nx] = b[i * nx + 1];
}

// A row that is read along itself.
extern "C" __global__ void along_itself(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < nx) b[i] = b[i - 1];
}

extern "C" __global__ void diagonal(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx && i < ny) b[i * nx + i] = 0;
}

extern "C" __global__ void every_other(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i < nx) b[2 * i] = 0;
}

extern "C" __global__ void ahead(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) b[i - nx] = 0;
}

extern "C" __global__ void one_behind(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ny - 1) b[i * nx + nx] = 0;
}

extern "C" __global__ void line_alone(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) b[i] = 0;
}

extern "C" __global__ void with_loop(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (; i < nx; i += blockDim.x * gridDim.x)
    b[i] = 0;
}

extern "C" __global__ void __launch_bounds__(128) bounded_column(float* b, int nx, int ny) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ny) b[i * nx] = 0;
}

// By a two-dimensional kernel: the last column is as the one in front of it.
extern "C" __global__ void slope_of_two(float* b, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == nx - 1 && y < ny) b[y * nx + x] = b[y * nx + x - 1];
}

// By another one, behind the end of a row.
extern "C" __global__ void column_behind(float* b, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == nx && y < ny - 1) b[y * nx + x] = 0;
}
