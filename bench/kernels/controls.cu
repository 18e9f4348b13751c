// Negative controls: kernels in which nothing may be rewritten, or nothing can be gained. They must
// come out unchanged or at worst no slower.
#include "grid.cuh"

// Atomics to data-dependent addresses.
extern "C" __global__ void histogram(const unsigned* __restrict__ keys, unsigned* bins, int n,
                                     int mask) {
  for (int i = inner(0); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[keys[i] & mask], 1u);
}

// Shared-memory tiles with two barriers a trip; blocks of 16x16, sizes that are multiples of 16.
extern "C" __global__ void matmul_tiled(const float* __restrict__ a, const float* __restrict__ b,
                                        float* __restrict__ c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0.0f;
  for (int t = 0; t < n; t += 16) {
    ta[y][x] = a[row * n + t + x];
    tb[y][x] = b[(t + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      sum += ta[y][k] * tb[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// A block's sum, by shuffles inside the warp and shared memory between warps.
extern "C" __global__ void block_reduce(const float* __restrict__ in, float* __restrict__ out,
                                        int n) {
  __shared__ float partial[32];
  const int i = inner(0), lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float sum = i < n ? in[i] : 0.0f;
  for (int d = 16; d > 0; d >>= 1)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = lane < (blockDim.x + 31) >> 5 ? partial[lane] : 0.0f;
  for (int d = 16; d > 0; d >>= 1)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) out[blockIdx.x] = sum;
}

// Each thread strides over the array until it meets a value above the limit.
extern "C" __global__ void first_above(const float* __restrict__ in, int* __restrict__ where, int n,
                                       float limit) {
  int found = -1;
  for (int i = inner(0); i < n; i += gridDim.x * blockDim.x) {
    if (in[i] > limit) {
      found = i;
      break;
    }
  }
  where[inner(0)] = found;
}

// Neighbours through a volatile pointer: each load must stay.
extern "C" __global__ void volatile_sum(const volatile float* in, float* __restrict__ out, int n) {
  const int i = inner(1);
  if (i >= n - 1) return;
  out[i] = in[i - 1] + in[i] + in[i + 1];
}

// Indirection: the address of the second load is data.
extern "C" __global__ void gather(const float* __restrict__ a, const int* __restrict__ index,
                                  float* __restrict__ out, int n) {
  const int i = inner(0);
  if (i < n) out[i] = a[index[i]];
}
