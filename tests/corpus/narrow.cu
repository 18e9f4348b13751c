// Half, bfloat16 and the 8, 6 and 4-bit floating-point formats.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

__global__ void halves(const half* a, const half2* b, half* out, half2* out2, float* f, int* i) {
  const half x = a[threadIdx.x], y = a[threadIdx.x + 32];
  const half2 u = b[threadIdx.x], v = b[threadIdx.x + 32];
  out[0] = __hfma(x, y, hexp(x)) + hsqrt(y) / __habs(x);
  out[1] = __hmax(x, y) - __hmin(x, y) + htanh(x) + hlog2(y) + hsin(x) + hrcp(y);
  out[2] = __hfma_sat(x, y, x) + __hfma_relu(x, y, x) + __hmax_nan(x, y);
  out2[0] = __hfma2(u, v, u) + h2exp2(v) + __hcmadd(u, v, u);
  out2[1] = __hmul2_sat(u, v) + __highs2half2(u, v) + __hneg2(v);
  f[0] = __half2float(x) + __low2float(u);
  i[0] = __half2int_rn(x) + __half2ushort_rz(y) + __hlt(x, y) + __hbeq2(u, v) + __hgtu(x, y);
  out[3] = __int2half_rd(i[1]) + __double2half(f[1]) + __ll2half_ru(i[2]);
  out2[2] = __shfl_xor_sync(~0u, u, 1);
  atomicAdd(out2 + 3, u);
}

#if __CUDA_ARCH__ >= 800
__global__ void brains(const __nv_bfloat16* a, const __nv_bfloat162* b, __nv_bfloat16* out,
                       __nv_bfloat162* out2) {
  const auto x = a[threadIdx.x], y = a[threadIdx.x + 32];
  const auto u = b[threadIdx.x], v = b[threadIdx.x + 32];
  out[0] = __hfma(x, y, x) + __float2bfloat16_rz(__bfloat162float(y)) / hexp2(y);
  out[1] = __hmax(x, y) * __habs(y) - __hmin_nan(x, y);
  out2[0] = __hfma2_relu(u, v, u) + __hmax2(u, v) + __floats2bfloat162_rn(1.5f, -2.0f);
  atomicAdd(out + 2, x);
}
#endif

__global__ void tiny(const float2* in, unsigned char* out, float* back) {
  out[0] = __nv_fp8_e4m3(in[0].x).__x;
  out[1] = __nv_fp8_e5m2(in[0].y).__x;
  out[2] = __nv_cvt_float_to_fp6(in[1].x, __NV_E2M3, cudaRoundNearest);
  out[3] = __nv_cvt_float2_to_fp4x2(in[2], __NV_E2M1, cudaRoundNearest);
  out[4] = __nv_cvt_float_to_e8m0(in[3].x, __NV_SATFINITE, cudaRoundPosInf);
  const __nv_fp8x2_e4m3 pair(in[4]);
  const float2 wide = float2(pair);
  back[0] = wide.x + wide.y + float(__nv_fp6_e3m2(in[5].x)) + float(__nv_fp4_e2m1(in[5].y));
}
