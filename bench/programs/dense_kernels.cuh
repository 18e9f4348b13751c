// Long kernels of which neighbouring blocks read much of the same, as people write them: windows
// over images, stencils, weights that all read, products and what looks like them in tiles of
// shared memory; guards of all kinds in front.
#pragma once

#include "programs.cuh"

#define HERE                                                                                       \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y

__constant__ float fixed_weights[81];

// Windows over images.

template <class T>
__global__ void box9(const T* __restrict__ in, T* __restrict__ out, int w, int h) {
  HERE;
  if (x + 8 >= w || y + 8 >= h) return;
  T sum = 0;
#pragma unroll
  for (int j = 0; j < 9; ++j)
#pragma unroll
    for (int i = 0; i < 9; ++i)
      sum += in[(y + j) * w + x + i];
  out[y * w + x] = sum * T(3);
}
template <class T, int R>
__global__ void convolved(const T* __restrict__ in, const T* __restrict__ k, T* __restrict__ out,
                          int w, int h) {
  HERE;
  if (x < R || y < R || x >= w - R || y >= h - R) return;
  T sum = 0;
#pragma unroll
  for (int j = -R; j <= R; ++j)
#pragma unroll
    for (int i = -R; i <= R; ++i)
      sum += in[(y + j) * w + x + i] * k[(j + R) * (2 * R + 1) + i + R];
  out[y * w + x] = sum;
}
template <int R>
__global__ void convolved_constant(const float* __restrict__ in, float* __restrict__ out, int w,
                                   int h) {
  HERE;
  if (x < R || y < R || x >= w - R || y >= h - R) return;
  float sum = 0;
#pragma unroll
  for (int j = -R; j <= R; ++j)
#pragma unroll
    for (int i = -R; i <= R; ++i)
      sum += in[(y + j) * w + x + i] * fixed_weights[(j + R) * (2 * R + 1) + i + R];
  out[y * w + x] = sum;
}
// The inner part by its own way, the rim by another.
template <class T>
__global__ void two_ways(const T* __restrict__ in, T* __restrict__ out, int w, int h) {
  HERE;
  if (x >= w || y >= h) return;
  T sum = 0;
  if (x >= 4 && y >= 4 && x < w - 4 && y < h - 4) {
#pragma unroll
    for (int j = 0; j < 9; ++j)
#pragma unroll
      for (int i = 0; i < 9; ++i)
        sum += in[(y + j - 4) * w + x + i - 4];
  } else {
    sum = in[y * w + x];
  }
  out[y * w + x] = sum;
}
// Whole blocks at the left and the top have nothing to do, nor have threads of a mask by columns.
__global__ void masked9(const float* __restrict__ in, const unsigned char* __restrict__ columns,
                        float* __restrict__ out, int w, int h) {
  HERE;
  if (blockIdx.x == 0 || blockIdx.y == 0) return;
  if (x >= w - 8 || y >= h - 8 || columns[x] < 60) return;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 9; ++j)
#pragma unroll
    for (int i = 0; i < 9; ++i)
      sum += in[(y + j) * w + x + i];
  out[y * w + x] = sum;
}
// How many of 9x9 points are positive, and what they sum up to.
__global__ void valid9(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
  HERE;
  if (x >= w - 8 || y >= h - 8) return;
  float sum = 0;
  int many = 0;
#pragma unroll
  for (int j = 0; j < 9; ++j)
#pragma unroll
    for (int i = 0; i < 9; ++i) {
      const float v = in[(y + j) * w + x + i];
      sum += v > 0 ? v : 0;
      many += v > 0;
    }
  out[y * w + x] = many > 20 ? sum / many : 0;
}
// Each pixel of C values in turn, weights of its own for each of them.
template <int C>
__global__ void depthwise7(const float* __restrict__ in, const float* __restrict__ k,
                           float* __restrict__ out, int w, int h) {
  HERE;
  if (x < 3 * C || x >= w - 3 * C || y < 3 || y >= h - 3) return;
  const int c = x % C;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 7; ++j)
#pragma unroll
    for (int i = 0; i < 7; ++i)
      sum += in[(y + j - 3) * w + x + (i - 3) * C] * k[(j * 7 + i) * C + c];
  out[y * w + x] = fmaxf(sum, 0.0f);
}
// Three planes in, one plane of features for each block along z.
__global__ void features(const float* __restrict__ in, const float* __restrict__ k,
                         const float* __restrict__ bias, float* __restrict__ out, int w, int h) {
  HERE;
  const int z = blockIdx.z;
  if (x >= w - 4 || y >= h - 4) return;
  float sum = bias[z];
#pragma unroll
  for (int c = 0; c < 3; ++c)
#pragma unroll
    for (int j = 0; j < 5; ++j)
#pragma unroll
      for (int i = 0; i < 5; ++i)
        sum += in[(c * h + y + j) * w + x + i] * k[((z * 3 + c) * 5 + j) * 5 + i];
  out[(z * h + y) * w + x] = sum > 0 ? sum : 0.1f * sum;
}
template <int R>
__global__ void eroded(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int w,
                       int h) {
  HERE;
  if (x < R || y < R || x >= w - R || y >= h - R) return;
  int least = 255;
#pragma unroll
  for (int j = -R; j <= R; ++j)
#pragma unroll
    for (int i = -R; i <= R; ++i)
      least = min(least, (int)in[(y + j) * w + x + i]);
  out[y * w + x] = least;
}
template <class T> __device__ T middle(T a, T b, T c) {
  return max(min(a, b), min(max(a, b), c));
}
template <class T> __device__ T middle(T a, T b, T c, T d, T e) {
  const T f = max(min(a, b), min(c, d)), g = min(max(a, b), max(c, d));
  return middle(e, f, g);
}
// The middle of the middles of five rows.
template <class T>
__global__ void median5(const T* __restrict__ in, T* __restrict__ out, int w, int h) {
  HERE;
  if (x >= w - 4 || y >= h - 4) return;
  T m[5];
#pragma unroll
  for (int j = 0; j < 5; ++j) {
    const T* at = in + (y + j) * w + x;
    m[j] = middle(at[0], at[1], at[2], at[3], at[4]);
  }
  out[y * w + x] = middle(m[0], m[1], m[2], m[3], m[4]);
}
template <class T> __device__ T across(const T* at, int w) {
  return at[1 - w] - at[-1 - w] + (at[1] - at[-1]) * T(2) + at[1 + w] - at[w - 1];
}
template <class T> __device__ T along(const T* at, int w) {
  return at[w - 1] - at[-w - 1] + (at[w] - at[-w]) * T(2) + at[w + 1] - at[1 - w];
}
// Gradients, and whether the one in the middle is the largest along its own direction.
template <class T>
__global__ void edges(const T* __restrict__ in, T* __restrict__ out, int w, int h) {
  HERE;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  const T* at = in + y * w + x;
  const T a = across(at, w), b = along(at, w), m = abs(a) + abs(b);
  T n = 0, p = 0;
  if (abs(a) > abs(b)) {
    n = abs(across(at - 1, w)) + abs(along(at - 1, w));
    p = abs(across(at + 1, w)) + abs(along(at + 1, w));
  } else {
    n = abs(across(at - w, w)) + abs(along(at - w, w));
    p = abs(across(at + w, w)) + abs(along(at + w, w));
  }
  out[y * w + x] = m >= n && m >= p ? m : T(0);
}
// All gradients first, then a choice.
template <class T>
__global__ void edges_all(const T* __restrict__ in, T* __restrict__ out, int w, int h) {
  HERE;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  const T* at = in + y * w + x;
  const T a = across(at, w), b = along(at, w), m = abs(a) + abs(b);
  const T l = abs(across(at - 1, w)) + abs(along(at - 1, w)),
          r = abs(across(at + 1, w)) + abs(along(at + 1, w)),
          u = abs(across(at - w, w)) + abs(along(at - w, w)),
          d = abs(across(at + w, w)) + abs(along(at + w, w));
  const bool flat = abs(a) > abs(b);
  const T n = flat ? l : u, p = flat ? r : d;
  out[y * w + x] = m >= n && m >= p ? m : T(0);
}
// One bit a neighbour.
__global__ void census(const unsigned char* __restrict__ in, unsigned* __restrict__ out, int w,
                       int h) {
  HERE;
  if (x < 3 || y < 2 || x >= w - 3 || y >= h - 2) return;
  const unsigned char mine = in[y * w + x];
  unsigned bits = 0;
#pragma unroll
  for (int j = -2; j <= 2; ++j)
#pragma unroll
    for (int i = -3; i <= 3; ++i)
      if (i || j) bits = bits * 2 + (in[(y + j) * w + x + i] < mine);
  out[y * w + x] = bits;
}
// Out is twice as large; four by four points by weights of a table.
__global__ void bicubic(const float* __restrict__ in, const float* __restrict__ k,
                        float* __restrict__ out, int w, int h) {
  HERE;
  if (x >= w || y >= h) return;
  const int sw = (w + 1) / 2, sh = (h + 1) / 2, sx = x / 2, sy = y / 2, px = x & 1, py = y & 1;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float row = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      row += k[px * 4 + i] *
             in[min(max(sy + j - 1, 0), sh - 1) * sw + min(max(sx + i - 1, 0), sw - 1)];
    sum += k[py * 4 + j] * row;
  }
  out[y * w + x] = sum;
}

// Stencils.

template <class T, int R>
__global__ void star(const T* __restrict__ in, const T* __restrict__ k, T* __restrict__ out, int w,
                     int h) {
  HERE;
  if (x < R || y < R || x >= w - R || y >= h - R) return;
  const T* at = in + y * w + x;
  T sum = at[0] * k[0];
#pragma unroll
  for (int d = 1; d <= R; ++d)
    sum += k[d] * (at[-d] + at[d] + at[-d * w] + at[d * w]);
  out[y * w + x] = sum;
}
template <class T>
__global__ void cube27(const T* __restrict__ in, const T* __restrict__ k, T* __restrict__ out,
                       int w, int h, int d) {
  HERE;
  const int z = blockIdx.z + 1;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1 || z >= d - 1) return;
  T sum = 0;
#pragma unroll
  for (int c = -1; c <= 1; ++c)
#pragma unroll
    for (int b = -1; b <= 1; ++b)
#pragma unroll
      for (int a = -1; a <= 1; ++a)
        sum += k[c * c + b * b + a * a] * in[((z + c) * h + y + b) * w + x + a];
  out[(z * h + y) * w + x] = sum;
}
// A column of 33 points.
template <class T>
__global__ void column33(const T* __restrict__ in, const T* __restrict__ k, T* __restrict__ out,
                         int w, int h) {
  HERE;
  if (x >= w || y < 16 || y >= h - 16) return;
  T sum = 0;
#pragma unroll
  for (int d = -16; d <= 16; ++d)
    sum += k[d + 16] * in[(y + d) * w + x];
  out[y * w + x] = sum;
}
template <class T>
__global__ void cube125(const T* __restrict__ in, T* __restrict__ out, int w, int h, int d) {
  HERE;
  const int z = blockIdx.z;
  if (x + 4 >= w || y + 4 >= h || z + 4 >= d) return;
  T sum = 0;
#pragma unroll
  for (int c = 0; c < 5; ++c)
#pragma unroll
    for (int b = 0; b < 5; ++b)
#pragma unroll
      for (int a = 0; a < 5; ++a)
        sum += in[((z + c) * h + y + b) * w + x + a];
  out[(z * h + y) * w + x] = sum;
}
// Walls turn back what comes from them.
__global__ void lattice(const float* __restrict__ in, const unsigned char* __restrict__ wall,
                        float* __restrict__ out, int w, int h, float omega) {
  HERE;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int p = w * h, i = y * w + x;
  const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1},
            back[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
  const float by[9] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                       1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  float f[9], rho = 0, u = 0, v = 0;
#pragma unroll
  for (int q = 0; q < 9; ++q) {
    const int from = i - dy[q] * w - dx[q];
    const float straight = in[q * p + from], turned = in[back[q] * p + i];
    f[q] = wall[from] < 8 ? turned : straight;
    rho += f[q];
    u += dx[q] * f[q];
    v += dy[q] * f[q];
  }
  u /= rho;
  v /= rho;
  const float uv = 1.5f * (u * u + v * v);
#pragma unroll
  for (int q = 0; q < 9; ++q) {
    const float c = 3.0f * (dx[q] * u + dy[q] * v);
    out[q * p + i] = f[q] + omega * (by[q] * rho * (1.0f + c + 0.5f * c * c - uv) - f[q]);
  }
}
// A field of fourth order with absorbing rows and columns.
__global__ void field(const float* __restrict__ ex, const float* __restrict__ ey,
                      const float* __restrict__ hz, const float* __restrict__ cx,
                      const float* __restrict__ cy, float* __restrict__ out, int w, int h) {
  HERE;
  if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
  const int i = y * w + x;
  const float a = 1.125f, b = -1.0f / 24.0f;
  const float dx = a * (ey[i + 1] - ey[i]) + b * (ey[i + 2] - ey[i - 1]),
              dy = a * (ex[i + w] - ex[i]) + b * (ex[i + 2 * w] - ex[i - w]);
  const float sx = cx[x] + cx[x + 1] + cx[x - 1] * cx[x + 2],
              sy = cy[y] + cy[y + 1] + cy[y - 1] * cy[y + 2];
  out[i] = hz[i] * (1.0f - sx * sy) + (dy * sx - dx * sy);
}

// What all threads read.

template <int K, int D>
__global__ void nearest(const float* __restrict__ points, const float* __restrict__ centres,
                        int* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p[D];
#pragma unroll
  for (int d = 0; d < D; ++d)
    p[d] = points[d * n + i];
  float best = 3e38f;
  int which = 0;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    float far = 0;
#pragma unroll
    for (int d = 0; d < D; ++d)
      far += (p[d] - centres[k * D + d]) * (p[d] - centres[k * D + d]);
    if (far < best) {
      best = far;
      which = k;
    }
  }
  out[i] = which;
}
template <int K, int D>
__global__ void nearest_tile(const float* __restrict__ points, const float* __restrict__ centres,
                             int* __restrict__ out, int n) {
  __shared__ float s[K * D];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < K * D) s[threadIdx.x] = centres[threadIdx.x];
  __syncthreads();
  if (i >= n) return;
  float best = 3e38f;
  int which = 0;
  float p[D];
#pragma unroll
  for (int d = 0; d < D; ++d)
    p[d] = points[d * n + i];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    float far = 0;
#pragma unroll
    for (int d = 0; d < D; ++d)
      far += (p[d] - s[k * D + d]) * (p[d] - s[k * D + d]);
    if (far < best) {
      best = far;
      which = k;
    }
  }
  out[i] = which;
}
template <class T, int N>
__global__ void filtered(const T* __restrict__ in, const T* __restrict__ k, T* __restrict__ out,
                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + N > n) return;
  T sum = 0;
#pragma unroll
  for (int d = 0; d < N; ++d)
    sum += in[i + d] * k[d];
  out[i] = sum;
}
// Rows of a bank of filters along y.
template <int N>
__global__ void bank(const float* __restrict__ in, const float* __restrict__ k,
                     float* __restrict__ out, int n, int filters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y;
  if (i + N > n || f >= filters) return;
  float sum = 0;
#pragma unroll
  for (int d = 0; d < N; ++d)
    sum += in[i + d] * k[f * N + d];
  out[(size_t)f * n + i] = sum;
}
// Sixteen rows against a lower triangle, a column a thread.
template <class T>
__global__ void solved(const T* __restrict__ l, const T* __restrict__ b, T* __restrict__ out,
                       int n) {
  __shared__ T s[16][17];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (blockIdx.x * 256 >= n) return;
  s[t / 16][t % 16] = l[t];
  __syncthreads();
  if (i >= n) return;
  T v[16];
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    v[r] = b[(size_t)r * n + i];
#pragma unroll
    for (int c = 0; c < r; ++c)
      v[r] -= s[r][c] * v[c];
    v[r] *= s[r][r];
    out[(size_t)r * n + i] = v[r];
  }
}

// Tiles.

// No questions: sizes are multiples.
template <class T, int B>
__global__ void plain_product(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                              int m, int l) {
  __shared__ T sa[B][B], sb[B][B];
  const int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
  T sum = 0;
  for (int k = 0; k < l; k += B) {
    sa[threadIdx.y][threadIdx.x] = a[y * l + k + threadIdx.x];
    sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * m + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < B; ++i)
      sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  c[y * m + x] = sum;
}
// At most MOST threads a block are promised. The first factor is stored by columns if TURNED.
template <class T, int B, int MOST, bool TURNED>
__global__ void __launch_bounds__(MOST) product(const T* __restrict__ a, const T* __restrict__ b,
                                                T* __restrict__ c, int n, int m, int l) {
  __shared__ T sa[B][B + 1], sb[B][B];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * B + tx, y = blockIdx.y * B + ty;
  T sum = 0;
  for (int k = 0; k < l; k += B) {
    if (TURNED)
      sa[tx][ty] = blockIdx.y * B + tx < n && k + ty < l
                       ? a[(size_t)(k + ty) * n + blockIdx.y * B + tx]
                       : T(0);
    else
      sa[ty][tx] = y < n && k + tx < l ? a[(size_t)y * l + k + tx] : T(0);
    sb[ty][tx] = x < m && k + ty < l ? b[(size_t)(k + ty) * m + x] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < B; ++i)
      sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < m && y < n) c[(size_t)y * m + x] = sum;
}
// Half in, float in between.
__global__ void product_half(const __half* __restrict__ a, const __half* __restrict__ b,
                             __half* __restrict__ c, int n, int m, int l) {
  __shared__ __half sa[16][16], sb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int k = 0; k < l; k += 16) {
    sa[ty][tx] = y < n && k + tx < l ? a[y * l + k + tx] : __float2half(0);
    sb[ty][tx] = x < m && k + ty < l ? b[(k + ty) * m + x] : __float2half(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sum += __half2float(sa[ty][i]) * __half2float(sb[i][tx]);
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = __float2half(sum);
}
// One small product for each block along z, all with the same second factor.
template <class T>
__global__ void batched_product(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                                int n, int m, int l) {
  __shared__ T sa[16][16], sb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  a += (size_t)blockIdx.z * n * l;
  c += (size_t)blockIdx.z * n * m;
  T sum = 0;
  for (int k = 0; k < l; k += 16) {
    sa[ty][tx] = y < n && k + tx < l ? a[y * l + k + tx] : T(0);
    sb[ty][tx] = x < m && k + ty < l ? b[(k + ty) * m + x] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = sum;
}
// N x N results a thread.
template <class T, int N>
__global__ void product_blocked(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                                int n, int m, int l) {
  constexpr int B = 16, E = B * N;
  __shared__ T sa[B][E], sb[B][E];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * B + tx, x0 = blockIdx.x * E,
            y0 = blockIdx.y * E;
  if (x0 >= m || y0 >= n) return;
  T sum[N][N] = {};
  for (int k = 0; k < l; k += B) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int r = (t + i * 256) / B, q = (t + i * 256) % B, s = (t + i * 256) / E,
                p = (t + i * 256) % E;
      sa[q][r] = y0 + r < n && k + q < l ? a[(y0 + r) * l + k + q] : T(0);
      sb[s][p] = x0 + p < m && k + s < l ? b[(k + s) * m + x0 + p] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < B; ++q)
#pragma unroll
      for (int j = 0; j < N; ++j)
#pragma unroll
        for (int i = 0; i < N; ++i)
          sum[j][i] += sa[q][ty + j * B] * sb[q][tx + i * B];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < N; ++j)
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (x0 + tx + i * B < m && y0 + ty + j * B < n)
        c[(y0 + ty + j * B) * m + x0 + tx + i * B] = sum[j][i];
}
// Tiles of 32 x 8, the depth by 8, until a tile says that nothing follows.
template <class T>
__global__ void product_ended(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                              const int* __restrict__ ends, int n, int m, int l) {
  __shared__ T sa[8][8], sb[8][32];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  const int end = min(l, ends[0]);
  T sum = 0;
  for (int k = 0; k < l; k += 8) {
    if (k >= end) break;
    if (tx < 8) sa[ty][tx] = y < n && k + tx < l ? a[y * l + k + tx] : T(0);
    sb[ty][tx] = x < m && k + ty < l ? b[(k + ty) * m + x] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i)
      sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = sum;
}
// Depths whose flag is not set are left out, for all blocks alike.
template <class T>
__global__ void product_sparse(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                               const int* __restrict__ flags, int n, int m, int l) {
  __shared__ T sa[16][16], sb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  if ((int)blockIdx.x * 16 >= m || (int)blockIdx.y * 16 >= n) return;
  T sum = 0;
  for (int k = 0; k < l; k += 16) {
    if (flags[k / 16] == 0) continue;
    sa[ty][tx] = y < n && k + tx < l ? a[y * l + k + tx] : T(0);
    sb[ty][tx] = x < m && k + ty < l ? b[(k + ty) * m + x] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sum += sa[ty][i] * sb[i][tx];
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = sum;
}
// Sums of absolute differences instead of products, the smaller of both ways round.
__global__ void differences(const int* __restrict__ a, const int* __restrict__ b,
                            int* __restrict__ c, int n, int m, int l) {
  __shared__ int sa[16][16], sb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  int sum = 0;
  for (int k = 0; k < l; k += 16) {
    sa[ty][tx] = a[min(y, n - 1) * l + min(k + tx, l - 1)];
    sb[ty][tx] = b[min(k + ty, l - 1) * m + min(x, m - 1)];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sum += abs((sa[ty][i] >> 8) - (sb[i][tx] >> 8));
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = sum;
}
// Paths of all lengths: the least of sums.
template <class T>
__global__ void least_sums(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c,
                           int n, int m, int l) {
  __shared__ T sa[16][16], sb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  if (blockIdx.y * 16 >= n) return;
  T least = T(1 << 30);
  for (int k = 0; k < l; k += 16) {
    sa[ty][tx] = y < n && k + tx < l ? a[y * l + k + tx] : T(1 << 20);
    sb[ty][tx] = x < m && k + ty < l ? b[(k + ty) * m + x] : T(1 << 20);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i)
      least = min(least, sa[ty][i] + sb[i][tx]);
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = least;
}
// Squares of distances between all rows of a and all of b.
template <class T, int B>
__global__ void __launch_bounds__(B* B) distances(const T* __restrict__ a, const T* __restrict__ b,
                                                  T* __restrict__ c, int n, int m, int l) {
  __shared__ T sa[B][B + 1], sb[B][B + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * B + tx, y = blockIdx.y * B + ty;
  if (blockIdx.x * B >= m || blockIdx.y * B >= n) return;
  const int ry = min(y, n - 1), rx = min((int)blockIdx.x * B + ty, m - 1);
  T sum = 0;
  for (int k = 0; k < l; k += B) {
    sa[ty][tx] = k + tx < l ? a[ry * l + k + tx] : T(0);
    sb[ty][tx] = k + tx < l ? b[rx * l + k + tx] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < B; ++i) {
      const T d = sa[ty][i] - sb[tx][i];
      sum += d * d;
    }
    __syncthreads();
  }
  if (x < m && y < n) c[y * m + x] = sum;
}
// One step of a decomposition: a tile less the product of a row's and a column's.
template <class T, int B>
__global__ void inner_tile(const T* __restrict__ in, T* __restrict__ out, int n) {
  __shared__ T sr[B][B], sc[B][B];
  const int tx = threadIdx.x, ty = threadIdx.y, x = (blockIdx.x + 1) * B + tx,
            y = (blockIdx.y + 1) * B + ty;
  if ((blockIdx.x + 2) * B > n || (blockIdx.y + 2) * B > n) return;
  sr[ty][tx] = in[ty * n + x];
  sc[ty][tx] = in[y * n + tx];
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int i = 0; i < B; ++i)
    sum += sc[ty][i] * sr[i][tx];
  out[y * n + x] = in[y * n + x] - sum;
}
// Cosine transform of 8x8 tiles, four of them a block.
__global__ void cosines(const float* __restrict__ in, const float* __restrict__ k,
                        float* __restrict__ out, int w, int h) {
  __shared__ float s[8][33], r[8][33];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty,
            u = tx & 7, from = tx - u;
  if (blockIdx.x * 32 >= w || blockIdx.y * 8 >= h) return;
  s[ty][tx] = in[min(y, h - 1) * w + min(x, w - 1)];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    sum += k[ty * 8 + i] * s[i][tx];
  r[ty][tx] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    sum += r[ty][from + i] * k[u * 8 + i];
  if (x < w && y < h) out[y * w + x] = sum;
}
// A tile with a rim, all weights from the global array.
template <class T, int R>
__global__ void convolved_tile(const T* __restrict__ in, const T* __restrict__ k,
                               T* __restrict__ out, int w, int h) {
  constexpr int W = 32 + 2 * R, H = 8 + 2 * R;
  __shared__ T s[H][W];
  const int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32, y0 = blockIdx.y * 8;
  if (y0 >= h) return;
#pragma unroll
  for (int i = 0; i < (W * H + 255) / 256; ++i) {
    const int at = i * 256 + ty * 32 + tx;
    if (at < W * H) {
      const int x = min(max(x0 + at % W - R, 0), w - 1), y = min(max(y0 + at / W - R, 0), h - 1);
      s[at / W][at % W] = in[y * w + x];
    }
  }
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * R; ++j)
#pragma unroll
    for (int i = 0; i <= 2 * R; ++i)
      sum += k[j * (2 * R + 1) + i] * s[ty + j][tx + i];
  if (x0 + tx < w && y0 + ty < h) out[(y0 + ty) * w + x0 + tx] = sum;
}
// Heads along x, sixteen queries a block, softmax over all keys as they come.
__global__ void attended(const float* __restrict__ q, const float* __restrict__ k,
                         const float* __restrict__ v, float* __restrict__ out, int n, float by) {
  __shared__ float sq[16][17], sk[16][17], sv[16][17], ss[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 16 + ty;
  const size_t head = (size_t)blockIdx.x * n * 16;
  if (blockIdx.y * 16 >= n) return;
  sq[ty][tx] = q[head + min(i, n - 1) * 16 + tx];
  float most = -1e30f, all = 0, sum = 0;
  for (int from = 0; from < n; from += 16) {
    const int j = min(from + ty, n - 1);
    sk[ty][tx] = k[head + j * 16 + tx];
    sv[ty][tx] = v[head + j * 16 + tx];
    __syncthreads();
    float dot = 0;
#pragma unroll
    for (int d = 0; d < 16; ++d)
      dot += sq[ty][d] * sk[tx][d];
    ss[ty][tx] = from + tx < n ? dot * by : -1e30f;
    __syncthreads();
    float now = most;
#pragma unroll
    for (int d = 0; d < 16; ++d)
      now = fmaxf(now, ss[ty][d]);
    const float less = __expf(most - now);
    sum *= less;
    all *= less;
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      const float p = __expf(ss[ty][d] - now);
      all += p;
      sum += p * sv[d][tx];
    }
    most = now;
    __syncthreads();
  }
  if (i < n) out[head + i * 16 + tx] = sum / all;
}
// The same without a softmax: scores of integers, cut off, times values.
__global__ void scored(const int* __restrict__ q, const int* __restrict__ k,
                       const int* __restrict__ v, int* __restrict__ out, int n, int m) {
  __shared__ int sq[16][17], sk[16][17], sv[16][17], ss[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 16 + ty;
  sq[ty][tx] = q[min(i, n - 1) * 16 + tx];
  int sum = 0;
  for (int from = 0; from < m; from += 16) {
    const int j = min(from + ty, m - 1);
    sk[ty][tx] = k[j * 16 + tx];
    sv[ty][tx] = v[j * 16 + tx] + blockIdx.x;
    __syncthreads();
    int dot = 0;
#pragma unroll
    for (int d = 0; d < 16; ++d)
      dot += sq[ty][d] * sk[tx][d];
    ss[ty][tx] = from + tx < m ? max(dot, 0) : 0;
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 16; ++d)
      sum += ss[ty][d] * sv[d][tx];
    __syncthreads();
  }
  if (i < n) out[((size_t)blockIdx.x * n + i) * 16 + tx] = sum;
}
// How often which difference to the neighbours stands in a tile.
__global__ void textures(const unsigned char* __restrict__ in, unsigned* __restrict__ out, int w,
                         int h) {
  __shared__ unsigned s[64];
  const int t = threadIdx.y * 16 + threadIdx.x, x = blockIdx.x * 16 + threadIdx.x,
            y = blockIdx.y * 16 + threadIdx.y;
  if (t < 64) s[t] = 0;
  __syncthreads();
  if (x >= 1 && y >= 1 && x < w - 1 && y < h - 1) {
    const unsigned char* at = in + y * w + x;
    unsigned bits = 0;
#pragma unroll
    for (int j = -1; j <= 1; ++j)
#pragma unroll
      for (int i = -1; i <= 1; ++i)
        if (i || j) bits = (bits << 1 | (at[j * w + i] > at[0])) ^ bits >> 5;
    atomicAdd(&s[bits & 63], 1u);
  }
  __syncthreads();
  if (t < 64) out[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + t] = s[t];
}
// A star of radius 4 that marches along z, with a tile of the plane.
template <class T>
__global__ void marching4(const T* __restrict__ in, const T* __restrict__ k, T* __restrict__ out,
                          int w, int h, int d) {
  __shared__ T s[16][40];
  const int tx = threadIdx.x + 4, ty = threadIdx.y + 4, x = blockIdx.x * 32 + threadIdx.x,
            y = blockIdx.y * 8 + threadIdx.y;
  if (blockIdx.y * 8 >= h || blockIdx.x * 32 >= w) return;
  const int cx = min(x, w - 1), cy = min(y, h - 1), p = w * h;
  T q[9];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    q[i] = in[min(i, d - 1) * p + cy * w + cx];
  for (int z = 4; z < d - 4; ++z) {
    q[8] = in[(z + 4) * p + cy * w + cx];
    s[ty][tx] = q[4];
    if (threadIdx.x < 4) {
      s[ty][tx - 4] = in[z * p + cy * w + max(x - 4, 0)];
      s[ty][tx + 32] = in[z * p + cy * w + min(x + 32, w - 1)];
    }
    if (threadIdx.y < 4) {
      s[ty - 4][tx] = in[z * p + max(y - 4, 0) * w + cx];
      s[ty + 8][tx] = in[z * p + min(y + 8, h - 1) * w + cx];
    }
    __syncthreads();
    T sum = q[4] * k[0];
#pragma unroll
    for (int r = 1; r <= 4; ++r)
      sum += k[r] *
             (q[4 - r] + q[4 + r] + s[ty][tx - r] + s[ty][tx + r] + s[ty - r][tx] + s[ty + r][tx]);
    if (x < w && y < h) out[z * p + y * w + x] = sum;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i)
      q[i] = q[i + 1];
  }
}
