// Blocks that watch each other: counters, locks, flags. A rewrite that merges blocks must see who
// could wait for whom. All of them leave their counters as they found them.
#include "grid.cuh"

__device__ inline float block_total(float mine, float* shared) {
  const int t = threadIdx.x;
  shared[t] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  return shared[0];
}

// The last block to finish adds up what all have left, in order.
extern "C" __global__ void last_block(const float* __restrict__ in, volatile float* parts,
                                      unsigned* counter, float* total, int n) {
  __shared__ float shared[1024];
  __shared__ bool last;
  const int i = inner(0);
  const float sum = block_total(i < n ? in[i] : 0.0f, shared);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float mine = 0.0f;
  for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x)
    mine += parts[k];
  __syncthreads();
  mine = block_total(mine, shared);
  if (threadIdx.x == 0) *total = mine;
}

// A scan over the grid: each block waits for the sums of those before it (decoupled look-back). A
// state is 0, 1 (the block's own sum) or 2 (with all before it), and the sum.
extern "C" __global__ void lookback(const int* __restrict__ in, int* __restrict__ out,
                                    volatile unsigned long long* states, unsigned* ticket, int n) {
  __shared__ int shared[2][1024];
  __shared__ int number, before;
  const int t = threadIdx.x;
  if (t == 0) number = atomicInc(ticket, gridDim.x - 1);
  __syncthreads();
  const int i = number * blockDim.x + t;
  int from = 0;
  shared[0][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    shared[1 - from][t] = shared[from][t] + (t >= d ? shared[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  if (t == 0) {
    const unsigned mine = shared[from][blockDim.x - 1];
    states[number] = (number == 0 ? 2ull : 1ull) << 32 | mine;
    unsigned sum = 0;
    for (int k = number - 1; k >= 0;) {
      const unsigned long long state = states[k];
      if (state >> 32 == 0) continue;
      sum += static_cast<unsigned>(state);
      if (state >> 32 == 2) break;
      --k;
    }
    before = sum;
    __threadfence();
    states[number] = 2ull << 32 | (sum + mine);
  }
  __syncthreads();
  if (i < n) out[i] = before + shared[from][t];
}

extern "C" __global__ void spinlock(unsigned* lock, volatile unsigned* sum,
                                    const unsigned* __restrict__ in) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0u, 1u) != 0u)
    ;
  __threadfence();
  *sum = *sum + in[blockIdx.x];
  __threadfence();
  atomicExch(lock, 0u);
}

// Blocks take pieces of work from a counter until there are none.
extern "C" __global__ void queue_persistent(const float* __restrict__ in, float* __restrict__ out,
                                            unsigned* next, unsigned* done, int pieces) {
  __shared__ int piece;
  for (;;) {
    if (threadIdx.x == 0) piece = atomicAdd(next, 1u);
    __syncthreads();
    const int mine = piece;
    __syncthreads();
    if (mine >= pieces) break;
    const int i = mine * blockDim.x + threadIdx.x;
    out[i] = sqrtf(in[i]) + 1.0f;
  }
  if (threadIdx.x == 0 && atomicInc(done, gridDim.x - 1) == gridDim.x - 1) *next = 0;
}
