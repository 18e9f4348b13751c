// How programs launch a step kernel, each way as a loop that waits at its end: the same arguments
// over and over, arrays that move at every second launch only, other kernels or copies in between,
// runs of one to a hundred steps. Under `ptxasw launch --steps` no way should take longer.
//
//   habits [REPEATS]      NAME SHAPE DIGESTS | MICROSECONDS us, for bench/programs/compare
//
// The time is the host's, from before the first launch until the device is done; the median of so
// many repeats (31), behind two that warm up.
#include "arrays.cuh"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

__global__ void heat(const float* __restrict__ a, float* __restrict__ b, int n, float c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    b[y * n + x] = a[y * n + x] + c * (a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] +
                                       a[(y + 1) * n + x] - 4.f * a[y * n + x]);
}
__global__ void smooth(const float* __restrict__ a, float* __restrict__ b, int n, float c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    b[y * n + x] = c * a[y * n + x] + (1.f - c) * 0.5f * (a[y * n + x - 1] + a[y * n + x + 1]);
}
__global__ void add(float* sum, const float* a) {
  *sum += *a;
}
__global__ void fill(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.f + float((unsigned(i) * 2654435761u) >> 9) * 0x1p-23f;
}

struct Arrays {
  int n;
  float *in = nullptr, *out = nullptr, *sum = nullptr;
  unsigned long long* digests = nullptr;
  cudaStream_t stream = nullptr;
  dim3 block{32, 8}, grid;

  // `more`: rows of blocks with nothing to do.
  Arrays(int side, int more) : n(side), grid((side + 31) / 32, (side + 7) / 8 + more) {
    for (float** array : {&in, &out}) {
      CHECK(cudaMalloc(array, sizeof(float) * n * n));
      fill<<<(n * n + 255) / 256, 256>>>(*array, n * n);
    }
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    CHECK(cudaMalloc(&digests, 2 * sizeof *digests));
    CHECK(cudaMemset(digests, 0, 2 * sizeof *digests));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceSynchronize());
  }
  Arrays(const Arrays&) = delete;
  ~Arrays() {
    for (void* array : {(void*)in, (void*)out, (void*)sum, (void*)digests})
      cudaFree(array);
    cudaStreamDestroy(stream);
  }
  void again() { heat<<<grid, block, 0, stream>>>(in, out, n, 0.1f); }
  void step() {
    again();
    std::swap(in, out);
  }
  void wait() { CHECK(cudaStreamSynchronize(stream)); }
};

struct Habit {
  std::string name;
  std::function<void(Arrays&)> loop;
};

std::vector<Habit> habits() {
  std::vector<Habit> all;
  for (const int count : {1, 5, 50})
    all.push_back({"same" + std::to_string(count), [count](Arrays& a) {
                     for (int k = 0; k < count; ++k)
                       a.again();
                   }});
  all.push_back({"same_waits", [](Arrays& a) {
                   for (int k = 0; k < 20; ++k, a.wait())
                     a.again();
                 }});
  all.push_back({"step_waits", [](Arrays& a) {
                   for (int k = 0; k < 20; ++k, a.wait())
                     a.step();
                 }});
  all.push_back({"two_in_turn", [](Arrays& a) {
                   for (int k = 0; k < 25; ++k) {
                     a.again();
                     smooth<<<a.grid, a.block, 0, a.stream>>>(a.out, a.in, a.n, 0.9f);
                   }
                 }});
  all.push_back({"another_between", [](Arrays& a) {
                   for (int k = 0; k < 25; ++k) {
                     a.step();
                     add<<<1, 1, 0, a.stream>>>(a.sum, a.in + a.n + 1);
                   }
                 }});
  all.push_back({"copy_between", [](Arrays& a) {
                   for (int k = 0; k < 25; ++k) {
                     a.step();
                     CHECK(cudaMemcpyAsync(a.sum, a.in + a.n + 1, sizeof *a.sum,
                                           cudaMemcpyDeviceToDevice, a.stream));
                   }
                 }});
  all.push_back({"every_second", [](Arrays& a) {
                   for (int k = 0; k < 25; ++k) {
                     a.again();
                     a.step();
                   }
                 }});
  all.push_back({"read_behind_two", [](Arrays& a) {
                   for (int k = 0; k < 10; ++k) {
                     a.step();
                     a.step();
                     float value = 0;
                     CHECK(cudaMemcpyAsync(&value, a.in + a.n + 1, sizeof value,
                                           cudaMemcpyDeviceToHost, a.stream));
                     a.wait();
                   }
                 }});
  all.push_back({"steps_begin_late", [](Arrays& a) {
                   for (int k = 0; k < 50; ++k)
                     a.again();
                   for (int k = 0; k < 50; ++k)
                     a.step();
                 }});
  for (const int count : {1, 2, 3, 4, 5, 7, 10, 20, 50, 100})
    all.push_back({"steps" + std::to_string(count), [count](Arrays& a) {
                     for (int k = 0; k < count; ++k)
                       a.step();
                   }});
  return all;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 31;
  using Clock = std::chrono::steady_clock;
  const std::vector<Habit> all = habits();
  for (const int side : {100, 256, 512, 1024, 2048})
    for (const Habit& habit : all) {
      // Each has a grid of its own: the launcher knows nothing of it from the others.
      Arrays a(side, int(&habit - all.data()));
      std::vector<double> times;
      for (int k = 0; k < repeats + 2; ++k) {
        const auto begin = Clock::now();
        habit.loop(a);
        a.wait();
        const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
        if (k >= 2) times.push_back(took.count());
      }
      std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
      unsigned long long sums[2] = {};
      const int count = side * side;
      digest<<<(count + 255) / 256, 256, 0, a.stream>>>((unsigned*)a.in, count, a.digests);
      digest<<<(count + 255) / 256, 256, 0, a.stream>>>((unsigned*)a.out, count, a.digests + 1);
      CHECK(cudaMemcpyAsync(sums, a.digests, sizeof sums, cudaMemcpyDeviceToHost, a.stream));
      a.wait();
      std::printf("%s %dx%d %016llx %016llx | %.2f us\n", habit.name.c_str(), side, side, sums[0],
                  sums[1], times[times.size() / 2]);
      std::fflush(stdout);
    }
}
