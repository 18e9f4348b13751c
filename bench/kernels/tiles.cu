// Tiles in shared memory between barriers: what neighbouring blocks load twice are whole tiles or
// rims of them.
#include "grid.cuh"

template <int T>
__device__ inline void matmul_tile(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[T][T], tb[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * T + x, row = blockIdx.y * T + y;
  float sum = 0.0f;
  for (int t = 0; t < n; t += T) {
    ta[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0.0f;
    tb[y][x] = t + y < n && column < n ? b[(t + y) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k)
      sum += ta[y][k] * tb[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
extern "C" __global__ void matmul_tile16(const float* __restrict__ a, const float* __restrict__ b,
                                         float* __restrict__ c, int n) {
  matmul_tile<16>(a, b, c, n);
}
extern "C" __global__ void matmul_tile32(const float* __restrict__ a, const float* __restrict__ b,
                                         float* __restrict__ c, int n) {
  matmul_tile<32>(a, b, c, n);
}

// 32x33 words, so that a column has its words in different banks; blocks of 32x8.
extern "C" __global__ void transpose_tile(const float* __restrict__ in, float* __restrict__ out,
                                          int nx, int ny) {
  __shared__ float tile[32][33];
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  for (int d = 0; d < 32; d += 8)
    if (i < nx && j + d < ny) tile[threadIdx.y + d][threadIdx.x] = in[(j + d) * nx + i];
  __syncthreads();
  const int ti = blockIdx.y * 32 + threadIdx.x, tj = blockIdx.x * 32 + threadIdx.y;
  for (int d = 0; d < 32; d += 8)
    if (ti < ny && tj + d < nx) out[(tj + d) * ny + ti] = tile[threadIdx.x][threadIdx.y + d];
}

// 5 points, 16x16 and a rim of one.
extern "C" __global__ void stencil_tile(const float* __restrict__ in, float* __restrict__ out,
                                        int nx, int ny) {
  __shared__ float tile[18][18];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int i = blockIdx.x * 16 + tx, j = blockIdx.y * 16 + ty;
  const Plane at{nx};
  const auto load = [&](int dx, int dy) {
    if (i + dx < nx && j + dy < ny) tile[ty + dy][tx + dx] = in[at(i + dx, j + dy)];
  };
  load(0, 0);
  if (tx == 1) load(-1, 0);
  if (tx == 16) load(1, 0);
  if (ty == 1) load(0, -1);
  if (ty == 16) load(0, 1);
  __syncthreads();
  if (i < nx - 1 && j < ny - 1)
    out[at(i, j)] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] +
                                                    tile[ty - 1][tx] + tile[ty + 1][tx]);
}

// A row of a block and a rim of eight on both sides; weights are read by all.
extern "C" __global__ void convolution_rows(const float* __restrict__ in,
                                            const float* __restrict__ weights,
                                            float* __restrict__ out, int nx, int ny) {
  constexpr int R = 8;
  __shared__ float row[1024 + 2 * R];
  const int i = inner(0), j = blockIdx.y, t = threadIdx.x;
  const Plane at{nx};
  const auto load = [&](int k) { return k >= 0 && k < nx ? in[at(k, j)] : 0.0f; };
  row[t + R] = load(i);
  if (t < R) {
    row[t] = load(i - R);
    row[t + R + blockDim.x] = load(i + static_cast<int>(blockDim.x));
  }
  __syncthreads();
  if (i >= nx) return;
  float sum = 0.0f;
#pragma unroll
  for (int d = 0; d <= 2 * R; ++d)
    sum += weights[d] * row[t + d];
  out[at(i, j)] = sum;
}

// Bodies by blocks through shared memory; n is a multiple of the block.
extern "C" __global__ void nbody_tile(const float4* __restrict__ bodies, float4* __restrict__ force,
                                      int n) {
  __shared__ float4 tile[1024];
  const int i = inner(0);
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float x = 0.0f, y = 0.0f, z = 0.0f;
  for (int first = 0; first < n; first += blockDim.x) {
    const int from = first + threadIdx.x;
    tile[threadIdx.x] = from < n ? bodies[from] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), w = other.w * r * r * r;
      x += w * dx;
      y += w * dy;
      z += w * dz;
    }
    __syncthreads();
  }
  if (i < n) force[i] = make_float4(x, y, z, 0.0f);
}

// The inner step of a blocked LU factorisation: the tile of this block minus the product of the
// tile of its row and that of its column.
extern "C" __global__ void lud_internal(float* m, int n, int offset) {
  __shared__ float row[16][16], column[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int i = offset + (blockIdx.x + 1) * 16 + x, j = offset + (blockIdx.y + 1) * 16 + y;
  row[y][x] = m[(offset + y) * n + i];
  column[y][x] = m[j * n + offset + x];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k)
    sum += column[y][k] * row[k][x];
  m[j * n + i] -= sum;
}
