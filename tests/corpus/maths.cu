// The mathematics library, precise and fast, in both precisions, and integer intrinsics.
// ARCH: 75 90 | 80 86 89 100a 120
#include <math.h>

template <typename T> __device__ T elementary(T x, T y, int* i) {
  return sin(x) + cos(y) + tan(x) + exp(y) + log(x) + pow(x, y) + sqrt(x) + cbrt(y) + atan2(x, y) +
         asin(x) + sinh(y) + tanh(x) + erf(y) + tgamma(x) + lgamma(y) + fmod(x, y) +
         remquo(x, y, i) + frexp(x, i) + ldexp(y, 3) + hypot(x, y) + rint(x) + trunc(y) + round(x) +
         fma(x, y, x) + fdim(x, y) + nextafter(x, y) + j0(x) + y1(y) + normcdf(x) + sinpi(y) +
         rsqrt(x) + ceil(y) + floor(x) + copysign(x, y) + isnan(x) + signbit(y);
}
__global__ void single(float* f, int* i) { f[0] = elementary(f[1], f[2], i); }
__global__ void precise(double* d, int* i) { d[0] = elementary(d[1], d[2], i); }

__global__ void fast(float* f, double* d) {
  f[0] = __sinf(f[1]) + __expf(f[2]) + __log2f(f[3]) + __powf(f[4], f[5]) + __fdividef(f[6], f[7]) +
         __frcp_rz(f[8]) + __fsqrt_rd(f[9]) + __fmaf_ru(f[10], f[11], f[12]) + __saturatef(f[13]) +
         __frsqrt_rn(f[14]) + __fadd_rz(f[15], f[16]) + __tanf(f[17]);
  d[0] = __ddiv_rn(d[1], d[2]) + __dsqrt_rz(d[3]) + __fma_rd(d[4], d[5], d[6]) + __drcp_ru(d[7]);
}

__global__ void integers(int* i, unsigned* u, long long* l, unsigned long long* q, float* f,
                         double* d) {
  i[0] = __clz(i[1]) + __ffs(i[2]) + __popc(u[0]) + __mulhi(i[3], i[4]) + __mul24(i[5], i[6]) +
         __sad(i[7], i[8], u[1]) + __hadd(i[9], i[10]) + __rhadd(i[11], i[12]) + abs(i[13]);
  u[2] = __brev(u[3]) + __byte_perm(u[4], u[5], u[6]) + __funnelshift_lc(u[7], u[8], u[9]) +
         __funnelshift_r(u[10], u[11], u[12]) + __umulhi(u[13], u[14]) + __umul24(u[15], u[16]) +
         __dp4a(u[17], u[18], u[19]) + __dp2a_lo(i[14], i[15], i[16]) + u[20] / u[21] + u[22] % 7;
  u[23] = __vadd4(u[24], u[25]) + __vabsdiffu2(u[26], u[27]) + __vmaxs2(u[28], u[29]) +
          __vcmpgtu4(u[30], u[31]) + __vsetleu2(u[32], u[33]) + __viaddmax_s32_relu(i[1], i[2], i[3]) +
          __vimin3_u16x2(u[1], u[2], u[3]);
  l[0] = __mul64hi(l[1], l[2]) + l[3] / l[4] + l[5] % l[6] + (l[7] >> i[17]) + llabs(l[8]);
  q[0] = __brevll(q[1]) + __popcll(q[2]) + __clzll(l[9]) + __umul64hi(q[3], q[4]) + q[5] / 10;
  __int128 wide = static_cast<__int128>(l[10]) * l[11] + q[6];
  l[12] = static_cast<long long>(wide >> 64) + static_cast<long long>(wide % 1000003);
  i[18] = __float2int_rd(f[0]) + __double2int_ru(d[0]) + __float_as_int(f[1]) + __double2hiint(d[1]);
  f[2] = __int2float_rz(i[19]) + __ull2float_rn(q[7]) + __int_as_float(i[20]) + __double2float_rd(d[2]);
  d[3] = __ll2double_ru(l[13]) + __uint2double_rn(u[34]) + __hiloint2double(i[21], i[22]);
}

__global__ void lanes(unsigned* u, float* f, unsigned long long* q) {
  const unsigned mask = __activemask();
  u[0] = __ballot_sync(mask, u[1]) + __all_sync(mask, u[2]) + __any_sync(mask, u[3]) +
         __uni_sync(mask, u[4]) + __match_any_sync(mask, u[5]);
  int predicate;
  u[6] = __match_all_sync(mask, q[0], &predicate) + predicate;
  u[7] = __shfl_sync(mask, u[8], 3) + __shfl_up_sync(mask, u[9], 1, 16);
  f[0] = __shfl_down_sync(mask, f[1], 2) + __shfl_xor_sync(mask, f[2], 4, 8);
  q[1] = __shfl_sync(mask, q[2], 5);
#if __CUDA_ARCH__ >= 800
  u[10] = __reduce_add_sync(mask, u[11]) + __reduce_max_sync(mask, u[12]) + __reduce_xor_sync(mask, u[13]);
#endif
  u[14] = __syncthreads_count(u[15]) + __syncthreads_and(u[16]) + __syncthreads_or(u[17]);
  __syncwarp(mask);
  u[18] = clock() + clock64() + __isShared(u) + __isLocal(f) + __isGlobal(u);
  u[19] = __ldg(u + 20) + __ldcg(u + 21) + __ldca(u + 22) + __ldcs(u + 23) + __ldlu(u + 24) + __ldcv(u + 25);
  __stwb(u + 26, 1u);
  __stcg(u + 27, 2u);
  __stcs(u + 28, 3u);
  __stwt(u + 29, 4u);
  const float4 v = __ldg(reinterpret_cast<const float4*>(f) + 8);
  f[3] = v.x + v.w;
  __prof_trigger(3);
}
