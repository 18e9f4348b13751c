// One thread an element, as most kernels are written: 1-D grids, `if (i < n)`, neighbours that
// share nothing or a rim. In f32, f64, int and f16 where the arithmetic has a meaning there.
#include "grid.cuh"

#include <cuda_fp16.h>

template <typename T> __device__ inline T saxpy(T a, T x, T y) {
  return a * x + y;
}
template <> __device__ inline half saxpy(half a, half x, half y) {
  return __hfma(a, x, y);
}

#define SAXPY(type, name)                                                                          \
  extern "C" __global__ void saxpy_##name(const type* __restrict__ x, type* __restrict__ y, int n, \
                                          int a) {                                                 \
    const int i = inner(0);                                                                        \
    if (i < n) y[i] = saxpy<type>(type(a), x[i], y[i]);                                            \
  }
SAXPY(float, f32)
SAXPY(double, f64)
SAXPY(int, i32)
SAXPY(half, f16)

template <typename T> __device__ inline void triad(const T* b, const T* c, T* a, int n, T scale) {
  const int i = inner(0);
  if (i < n) a[i] = b[i] + scale * c[i];
}
extern "C" __global__ void triad_f32(const float* __restrict__ b, const float* __restrict__ c,
                                     float* __restrict__ a, int n, float scale) {
  triad(b, c, a, n, scale);
}
extern "C" __global__ void triad_f64(const double* __restrict__ b, const double* __restrict__ c,
                                     double* __restrict__ a, int n, double scale) {
  triad(b, c, a, n, scale);
}

extern "C" __global__ void relu_f32(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = inner(0);
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" __global__ void relu_f16(const half* __restrict__ x, half* __restrict__ y, int n) {
  const int i = inner(0);
  if (i < n) y[i] = __hmax(x[i], __float2half(0.0f));
}

__device__ inline float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}
extern "C" __global__ void gelu_f32(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = inner(0);
  if (i < n) y[i] = gelu(x[i]);
}
extern "C" __global__ void gelu_f16(const half* __restrict__ x, half* __restrict__ y, int n) {
  const int i = inner(0);
  if (i < n) y[i] = __float2half(gelu(__half2float(x[i])));
}

// The cumulative normal distribution, by the usual polynomial.
__device__ inline float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f +
            k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float* __restrict__ price,
                                        const float* __restrict__ strike,
                                        const float* __restrict__ years, float* __restrict__ call,
                                        float* __restrict__ put, int n, float rate,
                                        float volatility) {
  const int i = inner(0);
  if (i >= n) return;
  const float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
  const float d1 =
      (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float n1 = normal(d1), n2 = normal(d1 - volatility * root), discount = expf(-rate * t);
  call[i] = s * n1 - x * discount * n2;
  put[i] = x * discount * (1.0f - n2) - s * (1.0f - n1);
}

template <int R> __device__ inline void stencil1d(const float* in, float* out, int n) {
  const int i = inner(R);
  if (i >= n - R) return;
  float sum = 0.0f;
#pragma unroll
  for (int d = -R; d <= R; ++d)
    sum += in[i + d];
  out[i] = sum * (1.0f / (2 * R + 1));
}
extern "C" __global__ void stencil1d_1(const float* __restrict__ in, float* __restrict__ out,
                                       int n) {
  stencil1d<1>(in, out, n);
}
extern "C" __global__ void stencil1d_4(const float* __restrict__ in, float* __restrict__ out,
                                       int n) {
  stencil1d<4>(in, out, n);
}

// Interleaved real and imaginary parts.
extern "C" __global__ void complex_mul(const float2* __restrict__ x, const float2* __restrict__ y,
                                       float2* __restrict__ z, int n) {
  const int i = inner(0);
  if (i >= n) return;
  const float2 a = x[i], b = y[i];
  z[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

extern "C" __global__ void rgb_to_grey(const unsigned char* __restrict__ rgb,
                                       unsigned char* __restrict__ grey, int n) {
  const int i = inner(0);
  if (i < n)
    grey[i] = static_cast<unsigned char>(
        (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) >> 8);
}
