// Measures the numbers of an architecture profile (src/target/chips.cpp) on this machine's GPU.
//
//   nvcc -std=c++17 -O2 -arch=sm_90 bench/gpu/profile.cu -o profile && ./profile > profile.json
//
// One block of 32 warps runs on one SM and issues many independent instructions of one kind, so the
// SM clock between the first start and the last end, divided by the number of warp instructions, is
// the time one of them keeps the load/store pipe busy. All loads hit L1: every warp reads the same
// few lines again and again, as a covered load finds them. Each figure is the least of several
// runs. The JSON ends with the row for chips.cpp, made from the figures above it; `here` in it
// stands for a string that names the GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int warps = 32, lanes = 32;
constexpr int unroll = 8;  // independent instructions in the loop's body, a multiple of 4
constexpr int trips = 256; // of the loop
constexpr int runs = 7;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "profile: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

struct Times {
  long long start[warps], end[warps];
};

struct Arguments {
  const char* data; // zeros
  Times* times;
  unsigned* sink;
  unsigned stride; // bytes between lanes
  unsigned offset; // bytes of lane 0 into its line
  unsigned active; // lanes that load, where the kernel guards its load
  unsigned zero;   // keeps the compiler from knowing that the data are zeros
};

// The loads of one trip lie a line apart, and every trip moves by a zero that the compiler cannot
// see: no two loads look the same to ptxas, and nothing but the loads needs instructions.
constexpr unsigned apart = 128;

template <int bytes> __device__ unsigned load(const char* address) {
  unsigned a, b, c, d;
  if constexpr (bytes == 4) {
    asm volatile("ld.global.ca.b32 %0, [%1];" : "=r"(a) : "l"(address));
    return a;
  } else if constexpr (bytes == 8) {
    asm volatile("ld.global.ca.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(address));
    return a ^ b;
  } else {
    asm volatile("ld.global.ca.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(address));
    return a ^ b ^ c ^ d;
  }
}

using Values = unsigned[unroll];

struct Shuffle {
  static __device__ void all(const Arguments& a, const char*, Values& values) {
#pragma unroll
    for (auto& value : values)
      asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(value) : "r"(a.active));
  }
};

template <int bytes> struct Load {
  static __device__ void all(const Arguments&, const char* address, Values& values) {
#pragma unroll
    for (int i = 0; i < unroll; ++i)
      values[i] ^= load<bytes>(address + i * apart);
  }
};

// A load by the last `active` lanes; the others keep their value.
struct Corner {
  static __device__ void all(const Arguments& a, const char* address, Values& values) {
    const unsigned corner = threadIdx.x % lanes >= lanes - a.active;
#pragma unroll
    for (int i = 0; i < unroll; ++i)
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.global.ca.b32 %0, [%2]; }"
                   : "+r"(values[i])
                   : "r"(corner), "l"(address + i * apart));
  }
};

// A source load and the load that its neighbour covers, as they stand.
struct Pair {
  static __device__ void all(const Arguments& a, const char* address, Values& values) {
    const char* covered = address + a.active * a.stride;
#pragma unroll
    for (int i = 0; i < unroll; ++i)
      values[i] ^= load<4>(address + i * apart) ^ load<4>(covered + i * apart);
  }
};

// The same as ptxasw rewrites it: the shuffle with its own predicate, the completeness of the warp,
// and the load of the lanes that have no partner. Four at a time, so that their latencies overlap.
struct Rewritten {
  static __device__ void four(unsigned (&v)[4], unsigned delta, unsigned mask,
                              const char* address) {
    unsigned r0, r1, r2, r3;
    asm volatile("{ .reg .pred p0, p1, p2, p3, q0, q1, q2, q3;\n"
                 "shfl.sync.down.b32 %0|p0, %4, %8, 31, %9;\n"
                 "shfl.sync.down.b32 %1|p1, %5, %8, 31, %9;\n"
                 "shfl.sync.down.b32 %2|p2, %6, %8, 31, %9;\n"
                 "shfl.sync.down.b32 %3|p3, %7, %8, 31, %9;\n"
                 "setp.eq.and.u32 q0, %9, 0xffffffff, p0;\n"
                 "setp.eq.and.u32 q1, %9, 0xffffffff, p1;\n"
                 "setp.eq.and.u32 q2, %9, 0xffffffff, p2;\n"
                 "setp.eq.and.u32 q3, %9, 0xffffffff, p3;\n"
                 "@!q0 ld.global.ca.b32 %0, [%10];\n"
                 "@!q1 ld.global.ca.b32 %1, [%10+128];\n"
                 "@!q2 ld.global.ca.b32 %2, [%10+256];\n"
                 "@!q3 ld.global.ca.b32 %3, [%10+384]; }"
                 : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
                 : "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(delta), "r"(mask), "l"(address));
    v[0] ^= r0;
    v[1] ^= r1;
    v[2] ^= r2;
    v[3] ^= r3;
  }

  static __device__ void all(const Arguments& a, const char* address, Values& values) {
    const char* covered = address + a.active * a.stride;
    const unsigned mask = __activemask();
    unsigned sources[unroll / 4][4];
#pragma unroll
    for (int i = 0; i < unroll; ++i)
      sources[i / 4][i % 4] = load<4>(address + i * apart);
#pragma unroll
    for (int i = 0; i < unroll; i += 4) {
      four(sources[i / 4], a.active, mask, covered + i * apart);
      for (int k = 0; k < 4; ++k)
        values[i + k] ^= sources[i / 4][k];
    }
  }
};

template <typename Body> __global__ void __launch_bounds__(warps* lanes) measure(Arguments a) {
  const unsigned lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
  const char* address = a.data + a.offset + lane * a.stride;
  Values values = {};
  Body::all(a, address, values); // warms L1
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int iteration = 0; iteration < trips; ++iteration) {
    Body::all(a, address, values);
    address += a.zero;
  }
  const long long end = clock64();
  unsigned sum = 0;
  for (const auto value : values)
    sum ^= value;
  if (sum == 0xdeadbeef) *a.sink = sum;
  if (lane == 0) {
    a.times->start[warp] = start;
    a.times->end[warp] = end;
  }
}

class Bench {
public:
  Bench() {
    check(cudaMalloc(&data_, size));
    check(cudaMemset(data_, 0, size));
    check(cudaMallocManaged(&times_, sizeof(Times)));
    check(cudaMalloc(&sink_, sizeof(unsigned)));
  }

  // Cycles per warp and body.
  template <typename Body>
  double cycles(unsigned stride, unsigned offset = 0, unsigned active = lanes) {
    double least = 1e30;
    for (int run = 0; run < runs; ++run) {
      measure<Body><<<1, warps * lanes>>>({data_, times_, sink_, stride, offset, active, 0});
      check(cudaGetLastError());
      check(cudaDeviceSynchronize());
      const auto start = *std::min_element(times_->start, times_->start + warps);
      const auto end = *std::max_element(times_->end, times_->end + warps);
      least = std::min(least, static_cast<double>(end - start) / (warps * trips * unroll));
    }
    return least;
  }

private:
  // The widest pattern: the largest stride, 31 lanes and as many of delta, and the lines of a trip.
  static constexpr std::size_t size = std::size_t{2 * lanes} * 8192 + (unroll + 1) * apart;
  char* data_ = nullptr;
  Times* times_ = nullptr;
  unsigned* sink_ = nullptr;
};

unsigned granules(unsigned stride, unsigned offset, unsigned bytes, unsigned granule) {
  std::vector<unsigned> touched;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned byte = 0; byte < bytes; ++byte)
      touched.push_back((offset + lane * stride + byte) / granule);
  std::sort(touched.begin(), touched.end());
  return static_cast<unsigned>(std::unique(touched.begin(), touched.end()) - touched.begin());
}

void put_load(unsigned bytes, unsigned stride, unsigned offset, double cycles, bool last) {
  std::printf("    {\"bytes\": %u, \"stride\": %u, \"offset\": %u, \"sectors\": %u, \"lines\": %u, "
              "\"cycles\": %.3f}%s\n",
              bytes, stride, offset, granules(stride, offset, bytes, 32),
              granules(stride, offset, bytes, 128), cycles, last ? "" : ",");
}

template <int bytes> void put_loads(Bench& bench, bool last_width) {
  const std::vector<unsigned> strides{0, 1, 2, 4, 8, 16, 32, 33, 64, 128, 256, 512};
  for (const unsigned& factor : strides)
    for (const unsigned offset : {0U, 1U}) {
      // Strides in accesses, so that every address is aligned.
      const unsigned stride = factor * bytes, start = offset * bytes;
      const bool last = last_width && &factor == &strides.back() && offset == 1;
      put_load(bytes, stride, start, bench.cycles<Load<bytes>>(stride, start), last);
    }
}

struct Comparison {
  unsigned stride, delta;
  double loads, rewritten;
};

void put_comparisons(const std::vector<Comparison>& all) {
  for (const auto& c : all)
    std::printf("    {\"stride\": %u, \"delta\": %u, \"two_loads\": %.3f, "
                "\"load_and_guarded_shuffle\": %.3f}%s\n",
                c.stride, c.delta, c.loads, c.rewritten, &c == &all.back() ? "" : ",");
}

} // namespace

int main() {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  Bench bench;

  std::printf("{\n  \"schema\": \"ptxasw-profile/1\",\n  \"device\": \"%s\",\n", device.name);
  std::printf("  \"architecture\": \"sm_%d%d\",\n", device.major, device.minor);
  std::printf("  \"unit\": \"cycles of one SM per warp instruction\",\n");

  const double shuffle = bench.cycles<Shuffle>(0, 0, 1);
  std::printf("  \"shuffle\": %.3f,\n  \"loads\": [\n", shuffle);
  put_loads<4>(bench, false);
  put_loads<8>(bench, false);
  put_loads<16>(bench, true);

  std::printf("  ],\n  \"guarded_loads\": [\n");
  for (const unsigned stride : {4U, 128U, 4096U})
    for (const unsigned active : {0U, 1U, 2U, 4U, 8U, 16U, 31U})
      std::printf("    {\"stride\": %u, \"active_lanes\": %u, \"cycles\": %.3f}%s\n", stride,
                  active, bench.cycles<Corner>(stride, 0, active),
                  stride == 4096 && active == 31 ? "" : ",");

  std::vector<Comparison> comparisons;
  for (const unsigned stride : {4U, 8U, 16U, 32U, 64U, 128U, 1024U, 4096U})
    for (const unsigned delta : {1U, 2U, 4U, 8U})
      comparisons.push_back({stride, delta, bench.cycles<Pair>(stride, 0, delta),
                             bench.cycles<Rewritten>(stride, 0, delta)});
  std::printf("  ],\n  \"comparisons\": [\n");
  put_comparisons(comparisons);

  const double load = bench.cycles<Load<4>>(4);
  const double column = bench.cycles<Load<4>>(1024);
  const double line = (column - load) / (lanes - 1);
  const double corner = bench.cycles<Corner>(4, 0, 1);
  // What a guarded shuffle adds to its source load, beyond the shuffle and the corner case.
  const double added = bench.cycles<Rewritten>(4, 0, 1) - load;
  const double guard = std::max(0.0, added - shuffle - corner);
  std::printf("  ],\n  \"profile\": {\"shuffle\": %.2f, \"load\": %.2f, \"line\": %.2f, "
              "\"corner\": %.2f, \"guard\": %.2f},\n",
              shuffle, load, line, corner, guard);
  std::printf("  \"row\": \".shuffle = measured(%.2f, here), .load = measured(%.2f, here), "
              ".line = measured(%.2f, here), .corner = measured(%.2f, here), "
              ".guard = measured(%.2f, here),\"\n}\n",
              shuffle, load, line, corner, guard);
  return 0;
}
