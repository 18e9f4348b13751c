// Sums, scans and rows of one block, through shared memory and barriers. Blocks have a power of two
// of threads.
#include "grid.cuh"

// What each thread gives, combined by a tree; every thread gets the result.
template <typename T, typename Combine>
__device__ inline T over_block(T mine, T* shared, Combine combine) {
  const int t = threadIdx.x;
  shared[t] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) shared[t] = combine(shared[t], shared[t + half]);
    __syncthreads();
  }
  const T all = shared[0];
  __syncthreads();
  return all;
}

struct Add {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float shared[1024];
  const int i = inner(0), t = threadIdx.x;
  shared[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = shared[0];
}

// Of integers, so that the order of the atomics at the end is not to be seen.
extern "C" __global__ void dot_u32(const unsigned* __restrict__ x, const unsigned* __restrict__ y,
                                   unsigned* sum, int n) {
  __shared__ unsigned shared[1024];
  const int i = inner(0);
  const unsigned all = over_block(i < n ? x[i] * y[i] : 0u, shared, Add{});
  if (threadIdx.x == 0) atomicAdd(sum, all);
}

// Hillis and Steele, each block for itself.
extern "C" __global__ void scan_block(const int* __restrict__ in, int* __restrict__ out, int n) {
  __shared__ int shared[2][1024];
  const int i = inner(0), t = threadIdx.x;
  int from = 0;
  shared[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    shared[1 - from][t] = shared[from][t] + (t >= d ? shared[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) out[i] = shared[from][t];
}

// A block a row.
extern "C" __global__ void softmax_rows(const float* __restrict__ in, float* __restrict__ out,
                                        int width) {
  __shared__ float shared[1024];
  const float* row = in + static_cast<size_t>(blockIdx.x) * width;
  float most = -INFINITY, sum = 0.0f;
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    most = fmaxf(most, row[k]);
  most = over_block(most, shared, Max{});
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    sum += __expf(row[k] - most);
  sum = over_block(sum, shared, Add{});
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * width + k] = __expf(row[k] - most) / sum;
}

extern "C" __global__ void rmsnorm_rows(const float* __restrict__ in,
                                        const float* __restrict__ weight, float* __restrict__ out,
                                        int width) {
  __shared__ float shared[1024];
  const float* row = in + static_cast<size_t>(blockIdx.x) * width;
  float sum = 0.0f;
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    sum += row[k] * row[k];
  sum = over_block(sum, shared, Add{});
  const float scale = rsqrtf(sum / width + 1e-5f);
  for (int k = threadIdx.x; k < width; k += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * width + k] = row[k] * scale * weight[k];
}

extern "C" __global__ void histogram_shared(const unsigned* __restrict__ keys, unsigned* bins,
                                            int n) {
  __shared__ unsigned mine[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    mine[k] = 0;
  __syncthreads();
  const int i = inner(0);
  if (i < n) atomicAdd(&mine[keys[i] & 255], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    if (mine[k]) atomicAdd(&bins[k], mine[k]);
}
