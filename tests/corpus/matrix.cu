// Warp matrix multiply-accumulate in every element type that nvcc offers.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

template <int M, int N, int K, typename T, typename C>
__device__ void multiply(const T* a, const T* b, C* c) {
  fragment<matrix_a, M, N, K, T, row_major> left;
  fragment<matrix_b, M, N, K, T, col_major> right;
  fragment<accumulator, M, N, K, C> sum;
  fill_fragment(sum, C{});
  load_matrix_sync(left, a, K);
  load_matrix_sync(right, b, K);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, N, mem_row_major);
}

__global__ void halves(const half* a, const half* b, half* h, float* f) {
  multiply<16, 16, 16>(a, b, h);
  multiply<32, 8, 16>(a, b, f);
  multiply<8, 32, 16>(a, b, f);
}
__global__ void bytes(const signed char* a, const unsigned char* b, int* c) {
  multiply<16, 16, 16>(a, a, c);
  multiply<16, 16, 16>(b, b, c);
}
__global__ void bits(const unsigned* a, int* c) {
  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> left;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> right;
  fragment<accumulator, 8, 8, 128, int> sum;
  fill_fragment(sum, 0);
  load_matrix_sync(left, a, 128);
  load_matrix_sync(right, a, 128);
  bmma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 8, mem_row_major);
}
#if __CUDA_ARCH__ >= 800
__global__ void brains(const __nv_bfloat16* a, float* c) { multiply<16, 16, 16>(a, a, c); }
__global__ void doubles(const double* a, double* c) { multiply<8, 8, 4>(a, a, c); }
__global__ void tensor_floats(const float* a, float* c) {
  fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> left;
  fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> right;
  fragment<accumulator, 16, 16, 8, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a, 8);
  load_matrix_sync(right, a, 8);
  for (float& x : left.x) x = __float_to_tf32(x);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 16, mem_row_major);
}
#endif
