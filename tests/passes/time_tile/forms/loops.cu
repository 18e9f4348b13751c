// Loops that meet: a tile that is filled by a loop and read by two, offsets three apart, an axis of
// which some places are left out. nvcc -std=c++17 -O2 -arch=sm_90 -ptx loops.cu

#define SIZES const float *__restrict__ in, float *__restrict__ out, int n, int m

extern "C" __global__ void taps_of_a_tile(SIZES) {
  __shared__ float tile[12 * 20];
  const int thread = threadIdx.y * 16 + threadIdx.x, x0 = blockIdx.x * 16 - 2,
            y0 = blockIdx.y * 8 - 2;
#pragma unroll 1
  for (int k = thread; k < 240; k += 128) {
    const int x = x0 + k % 20, y = y0 + k / 20;
    if (x >= 0 && y >= 0 && x < n && y < m) tile[k] = in[y * n + x];
  }
  __syncthreads();
  const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  if (i < 2 || j < 2 || i >= n - 2 || j >= m - 2) return;
  const int at = (threadIdx.y + 2) * 20 + threadIdx.x + 2;
  float sum = 0;
#pragma unroll 1
  for (int dy = -2; dy <= 2; ++dy)
#pragma unroll 1
    for (int dx = -2; dx <= 2; ++dx)
      sum += tile[at + dy * 20 + dx] * (dy + 2 * dx);
  out[j * n + i] = sum;
}

extern "C" __global__ void three_apart(SIZES) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 4 || j < 4 || i >= n - 4 || j >= m - 4) return;
  float sum = 0;
#pragma unroll 1
  for (int d = -4; d < 5; d += 3)
    sum += in[j * n + i + d] + in[(j + d) * n + i];
  out[j * n + i] = sum;
}

extern "C" __global__ void some_rows(SIZES) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
#pragma unroll 1
  for (int j = 1; j < m - 1; ++j) {
    if (j % 3 == 0) continue;
    out[j * n + i] = in[j * n + i - 1] + in[j * n + i + 1] + in[(j - 1) * n + i];
  }
}
