// Chains of dependent launches, as programs make them, or captured by hand as a CUDA graph.
//
//   chains plain|graph [LENGTH [SECONDS [LEAST]]]
//
// LEAST: only lines of so many chains at a time and more.
// A line of JSON for each kernel, size, number of streams and of threads: microseconds of wall time
// a launch (median and quartiles over rounds, each from an idle device to an idle device), those of
// the host until the last call returned, and a digest of all that the chains left in memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                  \
      std::printf("{\"error\": \"%s, line %d\"}\n", cudaGetErrorString(error), __LINE__);          \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

__global__ void axpy(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * 1.0001f + b[i] * 0.5f;
}
__global__ void stencil(const float* a, float* b, int n) { // rows of 128 elements
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 128 && i < n - 128) b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - 128] + a[i + 128]);
}
__global__ void reduce(const float* a, float* b, int n) {
  __shared__ float sums[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    sum += a[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int width = 128; width != 0; width >>= 1) {
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) b[blockIdx.x] = sums[0] * 1e-3f;
}
__global__ void scan(const float* a, float* b, int n) { // within a block
  __shared__ float values[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  values[threadIdx.x] = i < n ? a[i] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const float other = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
    __syncthreads();
    values[threadIdx.x] += other;
    __syncthreads();
  }
  if (i < n) b[i] = values[threadIdx.x] * 0.01f;
}

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

int length = 64;
double seconds = 0.06; // for each line
int least = 1;         // chains at a time

struct Lane { // a stream and its arrays
  cudaStream_t stream = nullptr;
  float *a = nullptr, *b = nullptr;
  cudaGraphExec_t graph = nullptr;
};

void launch(const std::string& kind, int number, const Lane& lane, int n) {
  const float* const from = number % 2 != 0 ? lane.b : lane.a;
  float* const to = number % 2 != 0 ? lane.a : lane.b;
  const int blocks = (n + 255) / 256;
  const auto is = [&](const char* name, int turn) {
    return kind == name || (kind == "mixed" && number % 4 == turn);
  };
  if (is("axpy", 0)) axpy<<<blocks, 256, 0, lane.stream>>>(from, to, n);
  if (is("stencil", 1)) stencil<<<blocks, 256, 0, lane.stream>>>(from, to, n);
  if (is("reduce", 2)) reduce<<<std::min(blocks, 264), 256, 0, lane.stream>>>(from, to, n);
  if (is("scan", 3)) scan<<<blocks, 256, 0, lane.stream>>>(from, to, n);
}

void fill(const Lane& lane, int n) {
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i)
    values[i] = static_cast<float>((i * 2654435761u) >> 8) * 1e-7f;
  CHECK(cudaMemcpy(lane.a, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(lane.b, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
}

std::uint64_t digest(const Lane& lane, int n, std::uint64_t sum) {
  std::vector<unsigned> words(n);
  for (const float* const array : {lane.a, lane.b}) {
    CHECK(cudaMemcpy(words.data(), array, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (const unsigned word : words)
      sum = (sum ^ word) * 0x100000001b3;
  }
  return sum;
}

void capture(const std::string& kind, Lane& lane, int n) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < length; ++k)
    launch(kind, k, lane, n);
  CHECK(cudaStreamEndCapture(lane.stream, &graph));
  CHECK(cudaGraphInstantiate(&lane.graph, graph, 0));
  CHECK(cudaGraphDestroy(graph));
}

// One chain on each of some streams, in turn.
void chains(const std::string& kind, std::vector<Lane>& lanes, int n) {
  if (lanes[0].graph != nullptr) {
    for (const Lane& lane : lanes)
      CHECK(cudaGraphLaunch(lane.graph, lane.stream));
    return;
  }
  for (int k = 0; k < length; ++k)
    for (const Lane& lane : lanes)
      launch(kind, k, lane, n);
}

double at(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void measure(bool as_graph, const std::string& kind, int log2, int streams, int threads) {
  if (streams * threads < least) return;
  const int n = 1 << log2;
  std::vector<std::vector<Lane>> lanes(threads, std::vector<Lane>(streams));
  for (auto& of_thread : lanes)
    for (Lane& lane : of_thread) {
      CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
      CHECK(cudaMalloc(&lane.a, n * sizeof(float)));
      CHECK(cudaMalloc(&lane.b, n * sizeof(float)));
      fill(lane, n);
      if (as_graph) capture(kind, lane, n);
    }
  const auto round = [&](double* host) {
    CHECK(cudaDeviceSynchronize());
    const auto begin = Clock::now();
    if (threads == 1) {
      chains(kind, lanes[0], n);
    } else {
      std::vector<std::thread> running;
      for (auto& of_thread : lanes)
        running.emplace_back([&] { chains(kind, of_thread, n); });
      for (std::thread& thread : running)
        thread.join();
    }
    if (host != nullptr) *host = since(begin);
    CHECK(cudaDeviceSynchronize());
    return since(begin);
  };
  for (int k = 0; k < 6; ++k)
    round(nullptr);
  CHECK(cudaGetLastError());
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const auto& of_thread : lanes)
    for (const Lane& lane : of_thread)
      sum = digest(lane, n, sum);
  std::vector<double> wall, host;
  const auto begin = Clock::now();
  while (wall.size() < 9 || (since(begin) < seconds * 1e6 && wall.size() < 400)) {
    double of_host = 0;
    wall.push_back(round(&of_host));
    host.push_back(of_host);
  }
  const double launches = 1.0 * length * streams * threads;
  std::printf("{\"kernel\": \"%s\", \"log2\": %d, \"streams\": %d, \"threads\": %d, \"us\": %.4f, "
              "\"low\": %.4f, \"high\": %.4f, \"host\": %.4f, \"digest\": \"%016llx\"}\n",
              kind.c_str(), log2, streams, threads, at(wall, 0.5) / launches,
              at(wall, 0.25) / launches, at(wall, 0.75) / launches, at(host, 0.5) / launches,
              static_cast<unsigned long long>(sum));
  std::fflush(stdout);
  for (auto& of_thread : lanes)
    for (Lane& lane : of_thread) {
      if (lane.graph != nullptr) CHECK(cudaGraphExecDestroy(lane.graph));
      CHECK(cudaFree(lane.a));
      CHECK(cudaFree(lane.b));
      CHECK(cudaStreamDestroy(lane.stream));
    }
}

} // namespace

int main(int count, char** words) {
  if (count < 2 || (std::strcmp(words[1], "plain") != 0 && std::strcmp(words[1], "graph") != 0)) {
    std::fprintf(stderr, "usage: chains plain|graph [LENGTH [SECONDS [LEAST]]]\n");
    return 2;
  }
  const bool as_graph = std::strcmp(words[1], "graph") == 0;
  if (count > 2) length = std::atoi(words[2]);
  if (count > 3) seconds = std::atof(words[3]);
  if (count > 4) least = std::atoi(words[4]);
  for (const char* kind : {"axpy", "stencil", "reduce", "scan", "mixed"})
    for (const int log2 : {12, 14, 16, 18, 20, 22, 24})
      measure(as_graph, kind, log2, 1, 1);
  for (const int log2 : {12, 16, 20})
    for (const int streams : {2, 4})
      measure(as_graph, "mixed", log2, streams, 1);
  for (const int log2 : {12, 16, 20})
    for (const int threads : {2, 4, 16})
      measure(as_graph, "mixed", log2, 1, threads);
  return 0;
}
