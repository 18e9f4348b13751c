// Kernels of tiles in shared memory as people write them: whole blocks that have nothing to do
// leave before the first barrier, last blocks take another way, threads read again what they have
// stored.
#pragma once

#include "programs.cuh"

// Nine points of a row, from a tile with a rim.
template <class T> __global__ void row9(const T* in, T* out, int w, int h) {
  constexpr int R = 4;
  __shared__ T s[256 + 2 * R];
  const int y = blockIdx.y, x = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + R;
  if (y >= h) return;
  const T* row = in + (size_t)y * w;
  s[t] = x < w ? row[x] : T(0);
  if (threadIdx.x < R) {
    s[t - R] = x >= R ? row[x - R] : T(0);
    s[t + 256] = x + 256 < w ? row[x + 256] : T(0);
  }
  __syncthreads();
  T sum = s[t] * T(3);
#pragma unroll
  for (int d = 1; d <= R; ++d)
    sum += s[t - d] + s[t + d];
  if (x < w) out[(size_t)y * w + x] = sum;
}
// Five points, blocks outside of the image leave.
template <class T> __global__ void five(const T* in, T* out, int w, int h) {
  __shared__ T s[18][18];
  if (blockIdx.x * 16 >= w || blockIdx.y * 16 >= h) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = min((int)blockIdx.x * 16 + tx - 1, w - 1),
            y = min((int)blockIdx.y * 16 + ty - 1, h - 1);
  const T mine = in[y * w + x];
  s[ty][tx] = mine;
  if (tx == 1) s[ty][0] = in[y * w + max(x - 1, 0)];
  if (tx == 16) s[ty][17] = in[y * w + min(x + 1, w - 1)];
  if (ty == 1) s[0][tx] = in[max(y - 1, 0) * w + x];
  if (ty == 16) s[17][tx] = in[min(y + 1, h - 1) * w + x];
  __syncthreads();
  const T v = s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] - s[ty][tx] * T(4);
  if (blockIdx.x * 16 + tx - 1 < w && blockIdx.y * 16 + ty - 1 < h) out[y * w + x] = v;
}
// 5x5 weights over a tile that all threads fill in turn.
template <class T> __global__ void weights(const T* in, const T* k, T* out, int w, int h) {
  __shared__ T s[20 * 36], c[25];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16, t = threadIdx.y * 32 + threadIdx.x;
  if (y0 >= h) return;
  if (t < 25) c[t] = k[t];
  for (int i = t; i < 20 * 36; i += 512) {
    const int x = x0 + i % 36 - 2, y = y0 + i / 36 - 2;
    s[i] = x >= 0 && x < w && y >= 0 && y < h ? in[(size_t)y * w + x] : T(0);
  }
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int j = 0; j < 5; ++j)
#pragma unroll
    for (int i = 0; i < 5; ++i)
      sum += c[j * 5 + i] * s[(threadIdx.y + j) * 36 + threadIdx.x + i];
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x < w && y < h) out[(size_t)y * w + x] = sum;
}
// Hillis and Steele within the block; blocks behind the end leave.
template <class T> __global__ void scan(const T* in, T* out, int n) {
  __shared__ T s[2][256];
  const int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
  if (blockIdx.x * 256 >= n) return;
  int from = 0;
  s[0][t] = i < n ? in[i] : T(0);
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = s[from][t];
}
// A row a block.
__global__ void softmax(const float* in, float* out, int rows, int n) {
  __shared__ float s[128];
  const int row = blockIdx.x, t = threadIdx.x;
  if (row >= rows) return;
  const float* from = in + (size_t)row * n;
  float m = -3e38f;
  for (int i = t; i < n; i += 128)
    m = fmaxf(m, from[i]);
  s[t] = m;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < n; i += 128)
    sum += __expf(from[i] - m);
  s[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  sum = s[0];
  for (int i = t; i < n; i += 128)
    out[(size_t)row * n + i] = __expf(from[i] - m) / sum;
}
template <class T, int B>
__global__ void product(const T* a, const T* b, T* c, int n, int m, int l) {
  __shared__ T sa[B][B], sb[B][B];
  const int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
  if (blockIdx.x * B >= m || blockIdx.y * B >= n) return;
  T sum = 0;
  for (int k = 0; k < l; k += B) {
    sa[threadIdx.y][threadIdx.x] =
        y < n && k + threadIdx.x < l ? a[(size_t)y * l + k + threadIdx.x] : T(0);
    sb[threadIdx.y][threadIdx.x] =
        x < m && k + threadIdx.y < l ? b[(size_t)(k + threadIdx.y) * m + x] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < B; ++i)
      sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  if (x < m && y < n) c[(size_t)y * m + x] = sum;
}
template <class T> __global__ void turned(const T* in, T* out, int w, int h) {
  __shared__ T s[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  if (x >= w || y >= h) return;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (x + threadIdx.x < w && y + j < h)
      s[j][threadIdx.x] = in[(size_t)(y + j) * w + x + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8)
    if (y + threadIdx.x < h && x + j < w)
      out[(size_t)(x + j) * h + y + threadIdx.x] = s[threadIdx.x][j];
}
// Sorted blocks; the last one, if it is not full, is copied.
__global__ void sorted(const int* in, int* out, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if ((blockIdx.x + 1) * 256 > n) {
    if (i < n) out[i] = in[i];
    return;
  }
  s[t] = in[i];
  __syncthreads();
  for (int k = 2; k <= 256; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      const int p = t ^ j;
      if (p > t && (s[t] > s[p]) == ((t & k) == 0)) {
        const int v = s[t];
        s[t] = s[p];
        s[p] = v;
      }
      __syncthreads();
    }
  out[i] = s[t];
}
__global__ void counted(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned s[256];
  const int from = blockIdx.x * 4096;
  if (from >= n) return;
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = from + threadIdx.x; i < min(n, from + 4096); i += 256)
    atomicAdd(&s[in[i]], 1u);
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}
// One table for all blocks.
template <class T> __global__ void looked_up(const unsigned char* in, T* out, int n) {
  __shared__ T s[256];
  s[threadIdx.x] = T(threadIdx.x) * T(threadIdx.x) + T(1);
  if (blockIdx.x * 256 >= n) return;
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = s[in[i]];
}
// A full block does without questions.
template <class T> __global__ void mirrored(const T* in, T* out, int n) {
  __shared__ T s[256];
  const int from = blockIdx.x * 256, t = threadIdx.x;
  if (from + 256 <= n) {
    s[t] = in[from + t];
    __syncthreads();
    out[from + t] = s[255 - t];
  } else {
    const int left = n - from;
    if (t < left) s[t] = in[from + t];
    __syncthreads();
    if (t < left) out[from + t] = s[left - 1 - t];
  }
}
// Tiles of the whole grid in turn.
template <class T> __global__ void strided(const T* in, T* out, int n) {
  __shared__ T s[258];
  for (int from = blockIdx.x * 256; from < n; from += gridDim.x * 256) {
    const int i = from + threadIdx.x;
    s[threadIdx.x + 1] = i < n ? in[i] : T(0);
    if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : T(0);
    if (threadIdx.x == 255) s[257] = i + 1 < n ? in[i + 1] : T(0);
    __syncthreads();
    if (i < n) out[i] = s[threadIdx.x] + s[threadIdx.x + 1] * T(2) + s[threadIdx.x + 2];
    __syncthreads();
  }
}
// A tile that marches along z.
template <class T> __global__ void marching(const T* in, T* out, int w, int h, int d) {
  __shared__ T s[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (blockIdx.y * 8 >= h) return;
  const int cx = min(x, w - 1), cy = min(y, h - 1), tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const size_t plane = (size_t)w * h;
  const T* at = in + (size_t)cy * w + cx;
  T below = at[0], mine = at[plane];
  for (int z = 1; z + 1 < d; ++z) {
    const T above = at[(z + 1) * plane];
    s[ty][tx] = mine;
    if (tx == 1) s[ty][0] = at[z * plane - (cx > 0)];
    if (tx == 32) s[ty][33] = at[z * plane + (cx + 1 < w)];
    if (ty == 1) s[0][tx] = at[z * plane - (cy > 0 ? w : 0)];
    if (ty == 8) s[9][tx] = at[z * plane + (cy + 1 < h ? w : 0)];
    __syncthreads();
    if (x < w && y < h)
      out[z * plane + (size_t)y * w + x] = s[ty][tx] * T(6) - s[ty][tx - 1] - s[ty][tx + 1] -
                                           s[ty - 1][tx] - s[ty + 1][tx] - below - above;
    __syncthreads();
    below = mine;
    mine = above;
  }
}
// Rounds of a stencil in the tile; each thread keeps its place.
template <class T> __global__ void rounds(const T* in, T* out, int n, int times) {
  __shared__ T s[2][256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (blockIdx.x * 256 >= n) return;
  T mine = i < n ? in[i] : T(0);
  for (int k = 0; k < times; ++k) {
    s[k & 1][t] = mine;
    __syncthreads();
    mine = s[k & 1][t] * T(2) - s[k & 1][(t + 1) & 255] - s[k & 1][(t + 255) & 255];
  }
  if (i < n) out[i] = mine;
}
// Whole batches a row of blocks, of lengths that the data say.
__global__ void batches(const float* a, const float* b, float* out, const int* lengths, int most) {
  __shared__ float s[256];
  const int batch = blockIdx.y, t = threadIdx.x, i = blockIdx.x * 256 + t,
            n = lengths[batch] % (most + 1);
  if (blockIdx.x * 256 >= n) return;
  s[t] = i < n ? a[(size_t)batch * most + i] * b[(size_t)batch * most + i] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[batch * gridDim.x + blockIdx.x] = s[0];
}
// Largest of 3x3, a tile with a rim, every second block leaves.
template <class T> __global__ void pooled(const T* in, T* out, int w, int h) {
  __shared__ T s[18][34];
  if ((blockIdx.x + blockIdx.y) & 1) return;
  const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 18 * 34; i += 512) {
    const int x = x0 + i % 34, y = y0 + i / 34;
    s[i / 34][i % 34] = in[(size_t)min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1)];
  }
  __syncthreads();
  T most = s[threadIdx.y][threadIdx.x];
#pragma unroll
  for (int i = 1; i < 9; ++i)
    most = max(most, s[threadIdx.y + i / 3][threadIdx.x + i % 3]);
  const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
  if (x < w && y < h) out[(size_t)y * w + x] = most;
}
