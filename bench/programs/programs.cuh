// What programs of this folder share: inputs that are the same in each run (with NaNs, infinities
// and denormals among floats), digests of outputs, and times, one line a launch.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>
#define CHECK(x)                                                                                   \
  do {                                                                                             \
    cudaError_t e_ = (x);                                                                          \
    if (e_ != cudaSuccess) {                                                                       \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                            \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)
static uint64_t state = 88172645463325252ull;
static uint64_t next_random() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
template <class T> T make(uint64_t r);
template <> float make<float>(uint64_t r) {
  float x = (float)((int)(r % 20001) - 10000) / 77.0f;
  if (r % 9973 == 0) x = NAN;
  if (r % 9967 == 0) x = -INFINITY;
  if (r % 997 == 0) x = 1e-41f;
  return x;
}
template <> double make<double>(uint64_t r) {
  return (double)((int64_t)(r % 2000001) - 1000000) / 777.0;
}
template <> int make<int>(uint64_t r) {
  return (int)(r >> 17);
}
template <> unsigned make<unsigned>(uint64_t r) {
  return (unsigned)(r >> 13);
}
template <> long long make<long long>(uint64_t r) {
  return (long long)r;
}
template <> unsigned char make<unsigned char>(uint64_t r) {
  return (unsigned char)(r >> 9);
}
template <> signed char make<signed char>(uint64_t r) {
  return (signed char)(r >> 9);
}
template <> short make<short>(uint64_t r) {
  return (short)(r >> 9);
}
template <> __half make<__half>(uint64_t r) {
  return __float2half((float)((int)(r % 2001) - 1000) / 77.0f);
}
template <class T> struct Buf {
  T* d = nullptr;
  size_t n;
  Buf(size_t n_, bool fill = true) : n(n_) {
    CHECK(cudaMalloc(&d, (n ? n : 1) * sizeof(T)));
    std::vector<T> h(n);
    if (fill)
      for (auto& v : h)
        v = make<T>(next_random());
    else
      memset((void*)h.data(), 0xAB, n * sizeof(T));
    CHECK(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buf() { cudaFree(d); }
  uint64_t digest() const {
    std::vector<unsigned char> h(n * sizeof(T));
    CHECK(cudaMemcpy(h.data(), d, h.size(), cudaMemcpyDeviceToHost));
    uint64_t x = 1469598103934665603ull;
    for (auto c : h) {
      x ^= c;
      x *= 1099511628211ull;
    }
    return x;
  }
};
template <class F>
void report(const char* name, const std::string& shape, F launch, uint64_t (*dig)(void*),
            void* out) {
  launch();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  uint64_t d = dig(out);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  float best = 1e30f;
  for (int r = 0; r < 7; ++r) {
    cudaEventRecord(a);
    for (int i = 0; i < 20; ++i)
      launch();
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    if (ms < best) best = ms;
  }
  CHECK(cudaGetLastError());
  printf("%-34s %-26s %016llx | %9.2f us\n", name, shape.c_str(), (unsigned long long)d, best * 50);
}
