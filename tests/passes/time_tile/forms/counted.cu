// Steps with loops that count from the place of a thread, with numbers of 64 bits that are divided,
// and with loops of which each thread has one place where there are enough of them.
// nvcc -std=c++17 -O2 -arch=sm_90 -ptx counted.cu

// How many of the places around are alive, as far as they are in the field.
extern "C" __global__ void around(const int* __restrict__ now, int* __restrict__ next, int width,
                                  int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
#pragma unroll 1
  for (int row = y - 1; row <= y + 1; ++row) {
    if (row < 0 || row >= height) continue;
#pragma unroll 1
    for (int column = x - 1; column <= x + 1; ++column) {
      if (column < 0 || column >= width || (row == y && column == x)) continue;
      sum += now[row * width + column];
    }
  }
  next[y * width + x] = now[y * width + x] * 3 + sum;
}

// The same of places in one line.
extern "C" __global__ void around_in_line(const unsigned char* __restrict__ now,
                                          unsigned char* __restrict__ next, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  const int x = i % width, y = i / width;
  int sum = 0;
#pragma unroll 1
  for (int row = y - 1; row <= y + 1; ++row)
#pragma unroll 1
    for (int column = x - 1; column <= x + 1; ++column)
      if (row >= 0 && row < height && column >= 0 && column < width)
        sum += now[row * width + column];
  next[i] = sum;
}

// A torus of which the sizes have 64 bits.
extern "C" __global__ void long_torus(const float* __restrict__ now, float* __restrict__ next,
                                      size_t width, size_t height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= int(width * height)) return;
  const int x = i % width, y = i / width;
  const int left = (x + width - 1) % width, right = (x + 1) % width, up = (y + height - 1) % height,
            down = (y + 1) % height;
  next[i] = now[i] + 0.2f * (now[y * width + left] + now[y * width + right] + now[up * width + x] +
                             now[down * width + x] - 4 * now[i]);
}

// Loops of which compilers write several places a round.
extern "C" __global__ void strided_line(const float* __restrict__ now, float* __restrict__ next,
                                        int n) {
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i < n - 1; i += blockDim.x * gridDim.x)
    next[i] = now[i] + 0.2f * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

extern "C" __global__ void strided_inside(const double* __restrict__ now, double* __restrict__ next,
                                          int n, int m) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i < n - 1; i += blockDim.x * gridDim.x)
#pragma unroll 4
    for (int j = blockIdx.y * blockDim.y + threadIdx.y + 1; j < m - 1; j += blockDim.y * gridDim.y)
      next[j * n + i] = 0.25 * (now[j * n + i - 1] + now[j * n + i + 1] + now[(j - 1) * n + i] +
                                now[(j + 1) * n + i]);
}

extern "C" __global__ void strided_torus(const float* __restrict__ now, float* __restrict__ next,
                                         int width, int height) {
#pragma unroll 2
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < width * height;
       i += blockDim.x * gridDim.x) {
    const int x = i % width, y = i / width;
    const int left = (x + width - 1) % width, right = (x + 1) % width,
              up = (y + height - 1) % height, down = (y + 1) % height;
    next[i] = 0.3f * (now[y * width + left] + now[y * width + right] + now[up * width + x] -
                      now[down * width + x]);
  }
}

// Row and column by divisions of 32 bits, or of 64 in two of three threads.
extern "C" __global__ void long_rows(const float* __restrict__ now, float* __restrict__ next,
                                     size_t width, size_t height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= int(width * height)) return;
  unsigned long long row, column, place = (long long)i;
  if (i % 3 == 1) {
    unsigned q, r;
    asm("div.u32 %0, %1, %2;" : "=r"(q) : "r"(i), "r"((unsigned)width));
    asm("rem.u32 %0, %1, %2;" : "=r"(r) : "r"(i), "r"((unsigned)width));
    row = q;
    column = r;
  } else {
    asm("div.u64 %0, %1, %2;" : "=l"(row) : "l"(place), "l"((unsigned long long)width));
    asm("rem.u64 %0, %1, %2;" : "=l"(column) : "l"(place), "l"((unsigned long long)width));
  }
  const int x = column, y = row;
  next[i] = 0.5f * (now[y * width + (x + 1) % width] + now[i]);
}
