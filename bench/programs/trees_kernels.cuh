// Reductions, scans and sorts in shared memory as people write them: trees of all shapes, odd
// sizes, early returns, several arrays, small and vector types, cooperative groups, a last block.
#pragma once

#include "programs.cuh"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <class T> __global__ void tree_mod(const T* in, T* out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* s = (T*)raw;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : T(0);
  __syncthreads();
  for (int w = 1; w < blockDim.x; w *= 2) {
    if (t % (2 * w) == 0 && t + w < blockDim.x) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void tree_strided(const T* in, T* out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* s = (T*)raw;
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : T(0);
  __syncthreads();
  for (unsigned w = 1; w < blockDim.x; w *= 2) {
    unsigned k = 2 * w * t;
    if (k + w < blockDim.x) s[k] += s[k + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void tree_down(const T* in, T* out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* s = (T*)raw;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  T v = 0;
  if (i < n) v = in[i];
  s[t] = v;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] = s[t] + s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void tree_two(const T* in, T* out, int n) {
  __shared__ T s[256];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  s[t] = (i < n ? in[i] : T(0)) + (i + 256 < n ? in[i + 256] : T(0));
  __syncthreads();
#pragma unroll
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T> __global__ void tree_volatile(const T* in, T* out, int n) {
  __shared__ T s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : T(0);
  __syncthreads();
  for (int w = 128; w > 32; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t < 32) {
    volatile T* v = s;
    v[t] += v[t + 32];
    __syncwarp();
    v[t] += v[t + 16];
    __syncwarp();
    v[t] += v[t + 8];
    __syncwarp();
    v[t] += v[t + 4];
    __syncwarp();
    v[t] += v[t + 2];
    __syncwarp();
    v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
template <class T, int B> __global__ void tree_full(const T* in, T* out, int n) {
  __shared__ T s[B];
  int t = threadIdx.x;
  T a = 0;
  for (int i = blockIdx.x * B + t; i < n; i += gridDim.x * B)
    a += in[i];
  s[t] = a;
  __syncthreads();
  if (B >= 512) {
    if (t < 256) s[t] = a = a + s[t + 256];
    __syncthreads();
  }
  if (B >= 256) {
    if (t < 128) s[t] = a = a + s[t + 128];
    __syncthreads();
  }
  if (B >= 128) {
    if (t < 64) s[t] = a = a + s[t + 64];
    __syncthreads();
  }
  if (t < 32) {
    if (B >= 64) a += s[t + 32];
    for (int o = 16; o > 0; o /= 2)
      a += __shfl_down_sync(~0u, a, o);
  }
  if (t == 0) out[blockIdx.x] = a;
}
template <class T> __global__ void tree_max(const T* in, T* out, int n) {
  __shared__ T s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : in[0];
  __syncthreads();
  for (int w = blockDim.x >> 1; w; w >>= 1) {
    if (t < w) {
      T o = s[t + w];
      if (o > s[t]) s[t] = o;
    }
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}
__global__ void tree_fmaxf(const float* in, float* out, int n) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : -INFINITY;
  __syncthreads();
  for (int w = blockDim.x / 2; w >= 1; w /= 2) {
    if (t < w) s[t] = fmaxf(s[t], s[t + w]);
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}
__global__ void argmin(const float* in, int* out, int n) {
  __shared__ float s[512];
  __shared__ int k[512];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : INFINITY;
  k[t] = i;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) {
      if (s[t + w] < s[t] || (s[t + w] == s[t] && k[t + w] < k[t])) {
        s[t] = s[t + w];
        k[t] = k[t + w];
      }
    }
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = k[0];
}
__global__ void two_trees(const float* in, float* out, int n) {
  __shared__ float a[256], b[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = i < n ? in[i] : 0.f;
  a[t] = v;
  b[t] = v * v;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) {
      a[t] += a[t + w];
      b[t] += b[t + w];
    }
    __syncthreads();
  }
  float m = a[0] / blockDim.x;
  if (i < n) out[i] = (v - m) * rsqrtf(b[0] / blockDim.x - m * m + 1e-5f);
}
__global__ void tree_2d(const float* in, float* out, int n) {
  __shared__ float s[8][33];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * 8 + y;
  float a = 0;
  for (int i = x; i < n; i += 32)
    a += in[row * n + i];
  s[y][x] = a;
  __syncthreads();
  for (int w = 16; w > 0; w >>= 1) {
    if (x < w) s[y][x] += s[y][x + w];
    __syncthreads();
  }
  if (x == 0) out[row] = s[y][0];
}
__global__ void tree_2dy(const float* in, float* out, int n) {
  __shared__ float s[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = in[(blockIdx.x * 16 + y) * 16 + x];
  __syncthreads();
  for (int w = 8; w > 0; w >>= 1) {
    if (y < w) s[y][x] += s[y + w][x];
    __syncthreads();
  }
  if (y == 0) out[blockIdx.x * 16 + x] = s[0][x];
}
__global__ void tree_flat2d(const double* in, double* out, int n) {
  __shared__ double s[256];
  int t = threadIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.0;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void odd_size(const int* in, int* out, int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int len = blockDim.x; len > 1;) {
    int h = (len + 1) / 2;
    if (t + h < len) s[t] += s[t + h];
    len = h;
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}
__global__ void early(const int* in, int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = 0;
  __syncthreads();
  if (blockIdx.x * 256 >= n) return;
  if (i < n) s[t] = in[i];
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] ^= s[t + w];
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}
__global__ void loopwg(const float* in, float* out, int rows, int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float a = 0;
    for (int i = t; i < n; i += 128)
      a += in[(size_t)r * n + i] * in[i];
    s[t] = a;
    __syncthreads();
    for (int w = 64; w > 0; w >>= 1) {
      if (t < w) s[t] += s[t + w];
      __syncthreads();
    }
    if (t == 0) out[r] = s[0];
    __syncthreads();
  }
}
__global__ void softmax_rows(const float* in, float* out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  float* s = (float*)raw;
  int t = threadIdx.x;
  const float* x = in + (size_t)blockIdx.x * n;
  float* y = out + (size_t)blockIdx.x * n;
  float m = -INFINITY;
  for (int i = t; i < n; i += blockDim.x)
    m = fmaxf(m, x[i]);
  s[t] = m;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] = fmaxf(s[t], s[t + w]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float a = 0;
  for (int i = t; i < n; i += blockDim.x) {
    float e = expf(x[i] - m);
    y[i] = e;
    a += e;
  }
  s[t] = a;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  a = s[0];
  for (int i = t; i < n; i += blockDim.x)
    y[i] /= a;
}
__global__ void scan_hs(const int* in, int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int o = 1; o < 256; o <<= 1) {
    int v = 0;
    if (t >= o) v = s[t - o];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (i < n) out[i] = s[t];
}
__global__ void scan_blelloch(const int* in, int* out, int n) {
  __shared__ int s[512];
  int t = threadIdx.x, b = blockIdx.x * 512;
  s[2 * t] = in[b + 2 * t];
  s[2 * t + 1] = in[b + 2 * t + 1];
  int o = 1;
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int a = o * (2 * t + 1) - 1, c = o * (2 * t + 2) - 1;
      s[c] += s[a];
    }
    o *= 2;
  }
  if (t == 0) s[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    o >>= 1;
    __syncthreads();
    if (t < d) {
      int a = o * (2 * t + 1) - 1, c = o * (2 * t + 2) - 1;
      int v = s[a];
      s[a] = s[c];
      s[c] += v;
    }
  }
  __syncthreads();
  out[b + 2 * t] = s[2 * t];
  out[b + 2 * t + 1] = s[2 * t + 1];
}
__global__ void bitonic(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[512];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  s[t] = in[i];
  __syncthreads();
  for (int k = 2; k <= 512; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      int p = t ^ j;
      if (p > t) {
        unsigned a = s[t], b = s[p];
        if ((a > b) == ((t & k) == 0)) {
          s[t] = b;
          s[p] = a;
        }
      }
      __syncthreads();
    }
  out[i] = s[t];
}
__global__ void hist_reduce(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned h[256];
  __shared__ unsigned s[256];
  int t = threadIdx.x;
  h[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
    atomicAdd(&h[in[i]], 1u);
  __syncthreads();
  s[t] = h[t] * t;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void cg_tree(const float* in, float* out, int n) {
  __shared__ float s[256];
  cg::thread_block b = cg::this_thread_block();
  int t = b.thread_rank(), i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  b.sync();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    b.sync();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void cg_tile(const float* in, float* out, int n) {
  __shared__ float s[256];
  auto b = cg::this_thread_block();
  auto w32 = cg::tiled_partition<32>(b);
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  b.sync();
  for (int w = 128; w >= 32; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    b.sync();
  }
  if (t < 32) {
    for (int w = 16; w > 0; w >>= 1) {
      if (t < w) s[t] += s[t + w];
      w32.sync();
    }
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
struct C2 {
  float x, y;
};
__global__ void complex_tree(const float* in, float* out, int n) {
  __shared__ C2 s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t].x = i < n ? in[i] : 1.f;
  s[t].y = 2 * i < n ? in[2 * i] : 0.f;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) {
      C2 a = s[t], b = s[t + w];
      s[t].x = a.x * b.x - a.y * b.y;
      s[t].y = a.x * b.y + a.y * b.x;
    }
    __syncthreads();
  }
  if (t == 0) {
    out[2 * blockIdx.x] = s[0].x;
    out[2 * blockIdx.x + 1] = s[0].y;
  }
}
__global__ void float4_tree(const float4* in, float4* out, int n) {
  __shared__ float4 s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? in[i] : make_float4(0, 0, 0, 0);
  __syncthreads();
  for (int w = 64; w > 0; w >>= 1) {
    if (t < w) {
      float4 a = s[t], b = s[t + w];
      s[t] = make_float4(a.x + b.x, a.y + b.y, fminf(a.z, b.z), fmaxf(a.w, b.w));
    }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void half_tree(const __half* in, __half* out, int n) {
  __shared__ __half s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : __float2half(0.f);
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] = __hadd(s[t], s[t + w]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void byte_tree(const unsigned char* in, unsigned char* out, int n) {
  __shared__ unsigned char s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void last_block(const float* in, float* part, float* out, unsigned* count, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float a = 0;
    for (int k = t; k < gridDim.x; k += 256)
      a += ((volatile float*)part)[k];
    s[t] = a;
    __syncthreads();
    for (int w = 128; w > 0; w >>= 1) {
      if (t < w) s[t] += s[t + w];
      __syncthreads();
    }
    if (t == 0) {
      *out = s[0];
      *count = 0;
    }
  }
}
__global__ void seg_tree(const float* in, float* out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, l = t & 15, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int w = 8; w > 0; w >>= 1) {
    if (l < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (l == 0) out[(blockIdx.x * 256 + t) / 16] = s[t];
}
__global__ void readback(const int* in, int* out, int n) { // partial sums stay and are read
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (i < n) out[i] = s[(t * 7) & 255];
}
__global__ void interleave(const int* in, int* out,
                           int n) { // two trees in one array, other threads use the upper half
  __shared__ int s[512];
  int t = threadIdx.x, h = t >> 8, l = t & 255, i = blockIdx.x * 512 + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (l < w) {
      if (h)
        s[256 + l] = min(s[256 + l], s[256 + l + w]);
      else
        s[l] = max(s[l], s[l + w]);
    }
    __syncthreads();
  }
  if (l == 0) out[2 * blockIdx.x + h] = s[256 * h];
}
