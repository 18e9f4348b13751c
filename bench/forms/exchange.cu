// What it gains by hand to take values of a tile in shared memory from registers: a thread's own
// one
// (`own`), and those of neighbouring lanes, where the lane has one (`lanes`). Prints times of the
// plain kernel over those of the others; results are compared bit for bit.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 exchange.cu && ./a.out
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

enum Way { plain, own, lanes };

// The value `by` places further along the row of the tile, whose lanes are those of the warp.
template <Way way> __device__ float along(const float* at, float mine, int by, int lane) {
  if (way == plain || (way == own && by != 0)) return at[by];
  if (by == 0) return mine;
  const float there = by < 0 ? __shfl_up_sync(~0U, mine, -by) : __shfl_down_sync(~0U, mine, by);
  return unsigned(lane + by) < 32 ? there : at[by];
}

template <Way way>
__global__ void __launch_bounds__(256) stencil(const float* in, float* out, int n) {
  __shared__ float tile[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const float mine = in[y * n + x];
  tile[ty][tx] = mine;
  if (tx == 1) tile[ty][0] = in[y * n + x - 1];
  if (tx == 32) tile[ty][33] = in[y * n + x + 1];
  if (ty == 1) tile[0][tx] = in[(y - 1) * n + x];
  if (ty == 8) tile[9][tx] = in[(y + 1) * n + x];
  __syncthreads();
  const float* at = &tile[ty][tx];
  out[y * n + x] = 0.25f * (along<way>(at, mine, -1, tx - 1) + along<way>(at, mine, 1, tx - 1) +
                            tile[ty - 1][tx] + tile[ty + 1][tx]) -
                   along<way>(at, mine, 0, tx - 1);
}

template <Way way> __global__ void __launch_bounds__(256) rows(const float* in, float* out, int n) {
  constexpr int radius = 4;
  __shared__ float tile[256 + 2 * radius];
  const int x = blockIdx.x * 256 + threadIdx.x, tx = threadIdx.x + radius;
  const float* row = in + std::size_t(blockIdx.y) * n + radius;
  const float mine = row[x];
  tile[tx] = mine;
  if (threadIdx.x < radius) tile[threadIdx.x] = row[x - radius];
  if (threadIdx.x >= 256 - radius) tile[tx + radius] = row[x + radius];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int d = -radius; d <= radius; ++d)
    sum += (d + 5) * along<way>(&tile[tx], mine, d, threadIdx.x % 32);
  out[std::size_t(blockIdx.y) * n + radius + x] = sum;
}

// Hillis and Steele: what crosses into a warp has to come through memory in each round.
template <Way way> __global__ void __launch_bounds__(256) scan(const float* in, float* out, int n) {
  __shared__ float tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
  float mine = in[i];
  tile[t] = mine;
  __syncthreads();
#pragma unroll
  for (int w = 1; w < 256; w *= 2) {
    float there = 0;
    if (w < 32 ? way == lanes : false) {
      const float lane = __shfl_up_sync(~0U, mine, w);
      if (t >= w) there = t % 32 >= w ? lane : tile[t - w];
    } else if (t >= w) {
      there = tile[t - w];
    }
    __syncthreads();
    if (t >= w) {
      mine = (way == plain ? tile[t] : mine) + there;
      tile[t] = mine;
    }
    __syncthreads();
  }
  out[i] = way == plain ? tile[t] : mine;
}

using Kernel = void (*)(const float*, float*, int);

float time_of(Kernel kernel, dim3 grid, dim3 block, const float* in, float* out, int n) {
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  std::vector<float> times;
  for (int round = 0; round < 15; ++round) {
    cudaEventRecord(from);
    for (int i = 0; i < 10; ++i)
      kernel<<<grid, block>>>(in, out, n);
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    times.push_back(ms / 10);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void compare(const char* name, Kernel (&kernels)[3], dim3 grid, dim3 block, int n,
             std::size_t size) {
  float *in, *out;
  cudaMalloc(&in, size * 4);
  cudaMalloc(&out, size * 4);
  std::vector<float> values(size), first(size), again(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = float(i * 2654435761U % 1000003) / 977;
  cudaMemcpy(in, values.data(), size * 4, cudaMemcpyHostToDevice);
  float was = 0;
  for (int way = 0; way < 3; ++way) {
    cudaMemset(out, 0, size * 4);
    const float ms = time_of(kernels[way], grid, block, in, out, n);
    cudaMemcpy(again.data(), out, size * 4, cudaMemcpyDeviceToHost);
    if (way == 0) std::printf("%s %dx%d plain %.4f ms", name, int(grid.x), int(grid.y), was = ms);
    if (way == 0) first = again;
    const bool equal = std::memcmp(first.data(), again.data(), size * 4) == 0;
    if (way > 0)
      std::printf(" %s %.3f%s", way == own ? "own" : "lanes", was / ms, equal ? "" : "!");
  }
  std::printf("\n");
  cudaFree(in);
  cudaFree(out);
}

int main() {
  Kernel stencils[] = {stencil<plain>, stencil<own>, stencil<lanes>};
  Kernel convolutions[] = {rows<plain>, rows<own>, rows<lanes>};
  Kernel scans[] = {scan<plain>, scan<own>, scan<lanes>};
  for (int blocks : {8, 32, 128, 256}) {
    const int n = blocks * 32 + 2;
    compare("stencil", stencils, dim3(blocks, blocks * 4), dim3(32, 8), n, std::size_t(n) * n);
    const int m = blocks * 32 + 8;
    compare("rows", convolutions, dim3(blocks / 8, m), dim3(256), m, std::size_t(m) * m);
    const int k = blocks * blocks * 16;
    compare("scan", scans, dim3(k), dim3(256), 0, std::size_t(k) * 256);
  }
}
