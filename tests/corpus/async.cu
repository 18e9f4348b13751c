// cuda::pipeline, cuda::barrier, latches and semaphores.
// ARCH: 80 90 | 86 89 100a 120
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

namespace cg = cooperative_groups;

__global__ void staged(const int4* in, int4* out, int n) {
  constexpr unsigned stages = 2;
  __shared__ int4 buffer[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0, fetched = 0; i < n; ++i) {
    for (; fetched < n && fetched < i + int(stages); ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], in + 128 * fetched,
                         cuda::aligned_size_t<16>(sizeof(buffer[0])), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[128 * i + threadIdx.x] = buffer[i % stages][threadIdx.x ^ 7];
    pipe.consumer_release();
  }
}

__global__ void barriers(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int buffer[256];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&buffer[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
  auto token = barrier.arrive();
  barrier.wait(std::move(token));
  out[threadIdx.x] = buffer[255 - threadIdx.x];
  barrier.arrive_and_drop();
}

__global__ void waits(cuda::latch<cuda::thread_scope_device>* latch,
                      cuda::counting_semaphore<cuda::thread_scope_device, 4>* semaphore) {
  semaphore->acquire();
  semaphore->release();
  latch->arrive_and_wait();
}
