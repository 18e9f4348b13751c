// What the programs of this folder share: arrays that any run fills alike, the time of a loop, and
// one number that sums up all arrays behind it.
//
//   PROGRAM SIZE STEPS [SIZE STEPS]...     NAME SIZE STEPS DIGEST | MICROSECONDS A STEP
#pragma once

#include "../arrays.cuh"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace forms {

// Handed out in the order in which a loop asks for them; each loop of one size gets the same ones.
class Arrays {
public:
  ~Arrays() {
    for (const Array& array : all_)
      cudaFree(array.data);
  }
  float* floats(size_t count) { return static_cast<float*>(get(count * 4, 1)); }
  double* doubles(size_t count) { return static_cast<double*>(get(count * 8, 2)); }
  // 0 or 1
  int* flags(size_t count) { return static_cast<int*>(get(count * 4, 3)); }
  unsigned char* bytes(size_t count) { return static_cast<unsigned char*>(get(count, 4)); }

  void begin() { next_ = 0; }
  unsigned long long sum() {
    unsigned long long *device = nullptr, total = 0;
    CHECK(cudaMalloc(&device, sizeof *device));
    CHECK(cudaMemset(device, 0, sizeof *device));
    for (const Array& array : all_)
      digest<<<unsigned((array.words + 255) / 256), 256>>>(static_cast<unsigned*>(array.data),
                                                           array.words, device);
    CHECK(cudaMemcpy(&total, device, sizeof total, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    return total;
  }

private:
  struct Array {
    void* data = nullptr;
    size_t words = 0;
  };
  void* get(size_t bytes, int kind);

  std::vector<Array> all_;
  size_t next_ = 0;
};

static __global__ void to_flags(unsigned* data, size_t words, bool bytes) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < words) data[i] = bytes ? data[i] >> 9 & 0x01010101u : (data[i] >> 12) % 8 != 0;
}

inline void* Arrays::get(size_t bytes, int kind) {
  if (next_ < all_.size()) return all_[next_++].data;
  Array made;
  made.words = (bytes + 3) / 4;
  CHECK(cudaMalloc(&made.data, made.words * 4));
  auto* const words = static_cast<unsigned*>(made.data);
  const auto blocks = unsigned((made.words + 255) / 256);
  fill<<<blocks, 256>>>(words, made.words, unsigned(all_.size()), kind == 2);
  if (kind > 2) to_flags<<<blocks, 256>>>(words, made.words, kind == 4);
  CHECK(cudaDeviceSynchronize());
  all_.push_back(made);
  ++next_;
  return made.data;
}

using Loop = std::function<void(int size, int steps, Arrays& arrays)>;

// Calls it with the size as a constant, one of those that `run` asks for; another one is 4096.
template <class F> void with_size(int n, const F& call) {
  switch (n) {
  case 256: return call(std::integral_constant<int, 256>{});
  case 257: return call(std::integral_constant<int, 257>{});
  case 1000: return call(std::integral_constant<int, 1000>{});
  case 1024: return call(std::integral_constant<int, 1024>{});
  case 2047: return call(std::integral_constant<int, 2047>{});
  case 2048: return call(std::integral_constant<int, 2048>{});
  default: return call(std::integral_constant<int, 4096>{});
  }
}

inline int run(int argc, char** argv, const char* name, const Loop& loop) {
  for (int at = 1; at + 1 < argc; at += 2) {
    const int size = std::atoi(argv[at]), steps = std::atoi(argv[at + 1]);
    Arrays arrays;
    std::vector<double> times;
    for (int repeat = 0; repeat < 5; ++repeat) { // two that warm up
      arrays.begin();
      const auto begin = std::chrono::steady_clock::now();
      loop(size, steps, arrays);
      CHECK(cudaDeviceSynchronize());
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - begin;
      if (repeat > 1) times.push_back(took.count() / steps);
    }
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    std::printf("%s %d %d %016llx | %.3f\n", name, size, steps, arrays.sum(),
                times[times.size() / 2]);
  }
  return 0;
}

inline dim3 cover(int nx, int ny, dim3 block) {
  return dim3((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
}

} // namespace forms

// As programs do that look at each step, or used to.
#ifdef WAIT_BEHIND_EACH_STEP
#define swap(a, b) swap(a, b), cudaDeviceSynchronize()
#endif
