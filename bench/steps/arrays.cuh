// What the programs of this folder share: runtime calls that have to go well, and arrays of numbers
// that any run fills alike and that a single number sums up.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error = (call);                                                              \
    if (error != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                          \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

namespace {

// Numbers between 1 and 2; a double has two words.
__global__ void fill(unsigned* data, size_t words, unsigned seed, bool is_double) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= words) return;
  unsigned h = unsigned(i) * 2654435761u + seed;
  h = (h ^ h >> 15) * 2246822519u;
  h ^= h >> 13;
  data[i] = is_double ? (i % 2 ? 0x3ff00000u | h >> 12 : h) : 0x3f800000u | h >> 9;
}

__global__ void digest(const unsigned* data, size_t words, unsigned long long* sum) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= words) return;
  unsigned long long h = (data[i] + 0x9e3779b97f4a7c15ull * (i + 1));
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
  atomicAdd(sum, h ^ h >> 27);
}

} // namespace
