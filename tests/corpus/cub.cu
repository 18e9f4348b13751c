// CUB device algorithms.
// ARCH: 75 90 | 80 86 89 100a 120
#include <cub/cub.cuh>

struct Even {
  __device__ bool operator()(int value) const { return value % 2 == 0; }
};

template <typename T> void all(T* in, T* out, int* counts, int n) {
  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
  cub::DeviceReduce::ArgMin(scratch, bytes, in, reinterpret_cast<cub::KeyValuePair<int, T>*>(out), n);
  cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n);
  cub::DeviceRunLengthEncode::Encode(scratch, bytes, in, out, counts, counts, n);
}

void integers(int* in, int* out, int* counts, int n) {
  all(in, out, counts, n);
  void* scratch = nullptr;
  size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n);
  cub::DeviceSelect::If(scratch, bytes, in, out, counts, n, Even{});
  cub::DeviceHistogram::HistogramEven(scratch, bytes, in, counts, 257, 0, 256, n);
}

void doubles(double* in, double* out, int* counts, int n) { all(in, out, counts, n); }
