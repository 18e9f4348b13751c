// Variables with initialisers, addresses of one another, alignment; attributes of kernels.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cuda_runtime.h>

struct alignas(32) Record {
  int number;
  double weight;
  const char* name;
  float vector[3];
};
__device__ int plain = 42;
__device__ float floats[2][3] = {{1.5f, -2.25f, 1e-30f}, {__builtin_inff()}};
__device__ double doubles[] = {3.141592653589793, -0.0, 1e300};
__device__ int* inside = &plain;
__device__ float* middle = &floats[1][1];
__constant__ Record record = {7, 2.5, "a \"quoted\" text\n", {1, 2, 3}};
__constant__ long long longs[4] = {-1, 0x7fffffffffffffffLL, 0, 1};
__managed__ int managed[8] = {1, 2, 3};
__device__ const unsigned char bytes[5] = {0, 255, 128, 1, 2};
extern __shared__ char dynamic[];
__device__ void target_function(int* p) { *p += 1; }
__device__ void (*function)(int*) = target_function;
template <int N> __device__ int weak_template = N;
namespace {
__device__ int hidden[3] = {9, 8, 7};
}

__global__ void __launch_bounds__(256, 2) bounded(int* out) {
  __shared__ alignas(64) double shared[4][33];
  shared[threadIdx.x % 4][threadIdx.x % 33] = doubles[threadIdx.x % 3];
  __syncthreads();
  int local[16];
  for (int i = 0; i < 16; ++i) local[i] = out[i] + hidden[i % 3];
  out[0] = local[threadIdx.x % 16] + plain + *inside + record.number + int(*middle);
  out[1] = int(shared[1][threadIdx.x]) + record.name[threadIdx.x] + int(longs[threadIdx.x % 4]);
  out[2] = managed[threadIdx.x % 8] + bytes[threadIdx.x % 5] + dynamic[threadIdx.x];
  out[3] = weak_template<5> + int(floats[0][threadIdx.x]);
  function(out + 4);
}

struct Big {
  int4 values[60];
};
__global__ void constants(const __grid_constant__ Big big, char c, short s, bool b, double d,
                          float2 v, int* out) {
  out[0] = big.values[threadIdx.x].x + c + s + b + int(d) + int(v.x + v.y);
}
__global__ void __maxnreg__(40) limited(int* out) { out[threadIdx.x] = blockIdx.x; }
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(4, 2, 1) clustered(int* out) { out[0] = gridDim.x; }
__global__ void __block_size__((128, 1, 1), (2, 1, 1)) sized(int* out) { out[0] = gridDim.x; }
__global__ void __launch_bounds__(128, 1, 8) wide_cluster(int* out) { out[0] = gridDim.x; }
#endif
