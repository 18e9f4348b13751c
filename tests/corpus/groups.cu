// Cooperative groups: tiles, coalesced groups, reductions, grids and (sm_90) clusters.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto half = cg::tiled_partition<16>(warp);
  const int value = in[block.thread_rank()];
  int sum = cg::reduce(warp, value, cg::plus<int>());
  sum += cg::inclusive_scan(half, value, cg::greater<int>());
  sum += half.shfl_xor(value, 3) + warp.any(value > 3) + warp.match_any(value);
  if (value & 1) {
    const auto active = cg::coalesced_threads();
    sum += active.shfl_down(value, 1) + cg::reduce(active, value, cg::bit_xor<int>());
    cg::invoke_one(active, [&] { atomicAdd(out, 1); });
  }
  const auto labelled = cg::labeled_partition(warp, value % 3);
  sum += labelled.num_threads();
  out[cg::this_grid().thread_rank()] = sum;
}

__global__ void copies(const float4* in, float4* out) {
  __shared__ float4 buffer[128];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, buffer, in, sizeof(buffer));
  cg::wait(block);
  out[threadIdx.x] = buffer[threadIdx.x ^ 1];
}

__global__ void whole_grid(float* data, int n) {
  const auto grid = cg::this_grid();
  for (int step = 0; step < 4; ++step) {
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) data[i] *= 1.5f;
    grid.sync();
  }
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int* out) {
  __shared__ int value;
  const auto cluster = cg::this_cluster();
  value = threadIdx.x;
  cluster.sync();
  int* remote = cluster.map_shared_rank(&value, cluster.block_rank() ^ 1);
  atomicAdd(remote, 1);
  cluster.barrier_arrive();
  cluster.barrier_wait();
  out[cluster.block_rank()] = *remote;
}
#endif
