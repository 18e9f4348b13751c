// Sizes that the launch is asked for: nvcc -std=c++17 -O2 -arch=sm_90 -ptx extents.cu

#define PLACE                                                                                      \
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y

// The number of columns is written in the program, too.
template <int n> __device__ void spread(float* out, const float* in) {
  PLACE;
  int at = x + y * blockDim.x * gridDim.x, left = at - 1, right = at + 1, up = at - n,
      down = at + n;
  if (x == 0) ++left;
  if (x == n - 1) --right;
  if (y == 0) up += n;
  if (y == n - 1) down -= n;
  out[at] = in[at] + 0.2f * (in[left] + in[right] + in[up] + in[down] - 4 * in[at]);
}
extern "C" __global__ void written(float* out, const float* in) {
  spread<96>(out, in);
}
// That is far from usual.
extern "C" __global__ void written_1024(float* out, const float* in) {
  spread<1024>(out, in);
}

// Likewise, of an interior.
extern "C" __global__ void written_inside(float* out, const float* in) {
  PLACE;
  const int at = x + y * blockDim.x * gridDim.x;
  if (x > 0 && x < 95 && y > 0 && y < 63)
    out[at] = 0.25f * (in[at - 1] + in[at + 1] + in[at - 96] + in[at + 96]);
}

// A torus of all threads.
#define COLUMNS (blockDim.x * gridDim.x)
#define ROWS (blockDim.y * gridDim.y)
#define CELL(x, y) in[((x) + COLUMNS) % COLUMNS + ((y) + ROWS) % ROWS * COLUMNS]
extern "C" __global__ void torus(int* out, const int* in) {
  PLACE;
  out[(x + COLUMNS) % COLUMNS + (y + ROWS) % ROWS * COLUMNS] =
      CELL(x, y) ^ (CELL(x - 1, y) + CELL(x + 1, y) + 3 * CELL(x, y - 1) + CELL(x, y + 1));
}

// Each thread stores to another place.
extern "C" __global__ void turned(int* out, const int* in) {
  PLACE;
  out[(x + 1) % COLUMNS + y * COLUMNS] = CELL(x, y) + CELL(x - 1, y);
}

// An interior, and what is computed hangs on the size.
extern "C" __global__ void inside(double* out, const double* in) {
  PLACE;
  const int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int at = y * w + x;
  out[at] = (in[at - 1] + in[at + 1] + in[at - w] + in[at + w]) / 4 + double(x) / w;
}

// As `inside`, of 64 bits.
extern "C" __global__ void long_inside(float* out, const float* in) {
  const size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
               w = size_t(gridDim.x) * blockDim.x, h = size_t(gridDim.y) * blockDim.y;
  if (x == 0 || y == 0 || x + 1 >= w || y + 1 >= h) return;
  out[y * w + x] =
      0.25f * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

// One line.
extern "C" __global__ void line(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const int left = i == 0 ? n - 1 : i - 1, right = i == n - 1 ? 0 : i + 1;
  out[i] = 0.5f * in[i] + 0.25f * (in[left] + in[right]);
}

// A block is a row.
extern "C" __global__ void rows(double* out, const double* in, int n) {
  const int i = blockIdx.x, j = threadIdx.x;
  if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
    out[i * blockDim.x + j] = in[i * blockDim.x + j] +
                              0.1 * (in[(i + 1) * blockDim.x + j] + in[(i - 1) * blockDim.x + j] +
                                     in[i * blockDim.x + j + 1] + in[i * blockDim.x + j - 1]);
}

// The same of a size that is written in its guard.
extern "C" __global__ void rows_of_1000(float* out, const float* in) {
  const int i = blockIdx.x, j = threadIdx.x, w = blockDim.x;
  if (i > 0 && i < 999 && j > 0 && j < 999)
    out[i * w + j] =
        0.25f * (in[(i + 1) * w + j] + in[(i - 1) * w + j] + in[i * w + j + 1] + in[i * w + j - 1]);
}

// The same with a frame around.
extern "C" __global__ void framed_rows(float* out, const float* in) {
  const int width = blockDim.x + 2, at = width * (blockIdx.x + 1) + threadIdx.x + 1;
  out[at] = in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

// A torus of rows.
extern "C" __global__ void torus_of_rows(int* out, const int* in) {
  const int x = threadIdx.x, y = blockIdx.x, w = blockDim.x, h = gridDim.x;
  const int l = (x + w - 1) % w, r = (x + 1) % w, u = (y + h - 1) % h, d = (y + 1) % h;
  out[y * w + x] = in[y * w + x] + in[y * w + l] + in[y * w + r] + in[u * w + x] - in[d * w + x];
}

// Several kernels: some places keep what they have.
extern "C" __global__ void held(float* now, const float* kept) {
  PLACE;
  const int at = x + y * blockDim.x * gridDim.x;
  if (kept[at] != 0) now[at] = kept[at];
}

// Two, of a torus, that know no size.
extern "C" __global__ void lifted(float* to, const float* from) {
  PLACE;
  to[x + y * COLUMNS] = from[(x + 1) % COLUMNS + y * COLUMNS] -
                        from[(x + COLUMNS - 1) % COLUMNS + y * COLUMNS] +
                        from[x + (y + 1) % ROWS * COLUMNS];
}
extern "C" __global__ void dropped(float* to, const float* from) {
  PLACE;
  to[x + y * COLUMNS] -= 0.1f * from[x + y * COLUMNS] + 0.01f * float(COLUMNS);
}
