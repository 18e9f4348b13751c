// A module of the size that real libraries produce: CUB's device-wide algorithms for several key
// types. Nothing in it is a stencil; it shows what the tool costs where there is nothing to gain.
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

struct Less {
  template <typename T> __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

template <typename Key> cudaError_t instantiate(void* scratch, std::size_t& bytes, Key* a, Key* b) {
  int* count = nullptr;
  const int n = 1 << 20;
  cub::DeviceRadixSort::SortPairs(scratch, bytes, a, b, a, b, n);
  cub::DeviceRadixSort::SortKeysDescending(scratch, bytes, a, b, n);
  cub::DeviceMergeSort::SortKeys(scratch, bytes, a, n, Less{});
  cub::DeviceReduce::Sum(scratch, bytes, a, b, n);
  cub::DeviceReduce::ArgMin(scratch, bytes, a, b, count, n);
  cub::DeviceScan::InclusiveSum(scratch, bytes, a, b, n);
  cub::DeviceSelect::Unique(scratch, bytes, a, b, count, n);
  return cudaGetLastError();
}

cudaError_t instantiate_all(void* scratch, std::size_t& bytes) {
  instantiate<unsigned char>(scratch, bytes, nullptr, nullptr);
  instantiate<int>(scratch, bytes, nullptr, nullptr);
  instantiate<long long>(scratch, bytes, nullptr, nullptr);
  instantiate<float>(scratch, bytes, nullptr, nullptr);
  return instantiate<double>(scratch, bytes, nullptr, nullptr);
}
