// Neighbours that are found modulo the size of the whole array, or asked for by where they are in
// it; and blocks that are counted in 24 bits. nvcc -std=c++17 -O2 -arch=sm_90 -ptx whole.cu

#define SIZES const float *__restrict__ now, float *__restrict__ next, int width, int height

// Places in one line: rows begin at multiples of the width.
extern "C" __global__ void rows_around(const unsigned char* __restrict__ now,
                                       unsigned char* __restrict__ next, unsigned width,
                                       unsigned height) {
  const unsigned all = width * height;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += blockDim.x * gridDim.x) {
    const unsigned x = i % width, row = i - x;
    const unsigned left = (x + width - 1) % width, right = (x + 1) % width;
    const unsigned above = (row + all - width) % all, below = (row + width) % all;
    next[row + x] = 3 * now[row + x] + now[left + above] + now[right + below] + 5 * now[x + above] +
                    7 * now[x + below] + 11 * now[left + row] + 13 * now[right + row];
  }
}

// Threads in two dimensions, and the place itself modulo the size.
extern "C" __global__ void places_around(SIZES) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int all = width * height, i = y * width + x;
  next[i] = 0.5f * now[i] + 0.25f * now[(i - width + all) % all] + 0.125f * now[(i + width) % all] +
            0.0625f * now[(i + 2 * width) % all];
}

// Places that have none above or below are known by where they are in the array.
extern "C" __global__ void places_inside(SIZES) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int all = width * height, i = y * width + x;
  float sum = now[i];
  if (i >= width) sum += 0.25f * now[i - width];
  if (i < all - width) sum -= 0.125f * now[i + width];
  next[i] = sum;
}

// A guard by the place, for more threads than a row has places.
extern "C" __global__ void guarded_by_place(SIZES) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int i = y * width + x;
  if (x < 1 || x >= width || y >= height || i < width) return;
  next[i] = now[i] + 0.25f * (now[i - 1] - now[i - width]);
}

// What is asked is of rows of another length than those of the array.
extern "C" __global__ void other_rows(SIZES, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= pitch || y >= height) return;
  const int i = y * pitch + x;
  float sum = now[i];
  if (y * width + x >= width) sum += 0.25f * now[i - pitch];
  next[i] = sum;
}

// The place behind the last one of a row is in the next one.
extern "C" __global__ void one_line(SIZES) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int all = width * height, i = y * width + x;
  next[i] = now[i] + 0.25f * now[(i + 1) % all];
}

// Of one place there is another neighbour, not of all in its row.
extern "C" __global__ void one_place(SIZES) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= width - 1 || y >= height) return;
  const int i = y * width + x;
  next[i] = now[i] + 0.25f * now[i == width ? i - 1 : i + 1];
}

extern "C" __global__ void few_blocks(SIZES) {
  const int i = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
  if (i >= width * height) return;
  const int x = i % width, y = i / width;
  if (x > 0 && y > 0) next[i] = now[i] + 0.25f * (now[i - 1] - now[i - width]);
}
