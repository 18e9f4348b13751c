// Programs in which a launch that begins too early is seen at once: a line for each, with a digest.
//
//   order [LAUNCHES]
//
// Run it by itself and under the launcher, and compare the lines.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                  \
      std::printf("%s, line %d\n", cudaGetErrorString(error), __LINE__);                           \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

// The last block is slow, and every thread of the next launch reads first what it wrote last.
__global__ void write_late(unsigned* to, const unsigned* from, int n, int delay) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = i < n ? from[n - 1 - i] : 0;
  if (blockIdx.x == gridDim.x - 1)
    for (int k = 0; k < delay; ++k)
      value = value * 1664525u + 1013904223u;
  if (i < n) to[i] = value + i;
}
__global__ void add_to(unsigned* to, const unsigned* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[n - 1 - i] * 3;
}
__global__ void count_up(unsigned* counter) { // not atomically: launches of one thread
  *counter = *counter * 5 + 1;
}
__global__ void spin(volatile unsigned* flag) {
  while (*flag == 0) {
  }
}

namespace {

constexpr int most = 1 << 20;
unsigned *a = nullptr, *b = nullptr, *counter = nullptr;
cudaStream_t s = nullptr, t = nullptr;

void fresh() {
  std::vector<unsigned> values(most);
  for (int i = 0; i < most; ++i)
    values[i] = i * 2654435761u;
  CHECK(cudaMemcpy(a, values.data(), most * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, values.data(), most * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(counter, 0, 4));
  CHECK(cudaDeviceSynchronize()); // the other streams do not wait for the default one
}

void tell(const char* what) {
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> values(most);
  std::uint64_t sum = 0xcbf29ce484222325;
  for (unsigned* const array : {a, b, counter}) {
    const int n = array == counter ? 1 : most;
    CHECK(cudaMemcpy(values.data(), array, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
      sum = (sum ^ values[i]) * 0x100000001b3;
  }
  std::printf("%s %016llx\n", what, static_cast<unsigned long long>(sum));
  std::fflush(stdout);
  fresh();
}

int blocks(int n) {
  return (n + 255) / 256;
}

void write(unsigned* to, unsigned* from, int n, cudaStream_t stream = s, int delay = 3000) {
  write_late<<<blocks(n), 256, 0, stream>>>(to, from, n, delay);
}

} // namespace

int main(int count, char** words) {
  const int many = count > 1 ? std::atoi(words[1]) : 1000000;
  CHECK(cudaMalloc(&a, most * 4));
  CHECK(cudaMalloc(&b, most * 4));
  CHECK(cudaMalloc(&counter, 4));
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  fresh();

  for (const int n : {100, 256, 5000, 100000, most}) { // one block to many waves
    for (int k = 0; k < 200; ++k)
      write(k % 2 != 0 ? a : b, k % 2 != 0 ? b : a, n);
    tell("one behind the other");
  }
  for (int k = 0; k < 200; ++k) { // copies in between
    write(b, a, 50000);
    if (k % 3 == 0) CHECK(cudaMemcpyAsync(a, b, 200000, cudaMemcpyDeviceToDevice, s));
    if (k % 3 == 1) CHECK(cudaMemsetAsync(a + k, k, 4000, s));
    add_to<<<blocks(50000), 256, 0, s>>>(a, b, 50000);
  }
  tell("copies in between");

  cudaEvent_t event = nullptr, other = nullptr;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
  for (int k = 0; k < 200; ++k) { // two streams that wait for one another
    write(b, a, 50000);
    add_to<<<blocks(50000), 256, 0, s>>>(a, b, 50000);
    CHECK(cudaEventRecord(event, s));
    CHECK(cudaStreamWaitEvent(t, event, 0));
    write(b, a, 50000, t);
    add_to<<<blocks(50000), 256, 0, t>>>(a, b, 50000);
    CHECK(cudaEventRecord(other, t));
    CHECK(cudaStreamWaitEvent(s, other, 0));
  }
  tell("two streams in turn");

  cudaStream_t blocking = nullptr;
  CHECK(cudaStreamCreate(&blocking));
  for (int k = 0; k < 200; ++k) { // on the default stream and one that waits for it
    write(b, a, 50000, nullptr);
    write(a, b, 50000, blocking);
    add_to<<<blocks(50000), 256, 0, blocking>>>(a, b, 50000);
    add_to<<<blocks(50000), 256>>>(b, a, 50000);
  }
  tell("the default stream and another");

  static unsigned on_host[64];
  for (int k = 0; k < 64; ++k) { // callbacks
    write(b, a, 5000);
    CHECK(cudaLaunchHostFunc(
        s, [](void* at) { *static_cast<unsigned*>(at) += 1; }, &on_host[k]));
    add_to<<<blocks(5000), 256, 0, s>>>(a, b, 5000);
  }
  tell("callbacks");
  for (const unsigned called : on_host)
    if (called != 1) std::printf("a callback was lost\n");

  unsigned* flag = nullptr; // a kernel that spins in another stream
  CHECK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
  *flag = 0;
  spin<<<32, 256, 0, t>>>(flag);
  for (int k = 0; k < 500; ++k)
    write(k % 2 != 0 ? a : b, k % 2 != 0 ? b : a, most, s, 10);
  CHECK(cudaStreamSynchronize(s));
  *reinterpret_cast<volatile unsigned*>(flag) = 1;
  tell("beside a kernel that spins");

  cudaGraph_t graph = nullptr; // captured, and one kernel put in the place of another
  cudaGraphExec_t made = nullptr;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < 20; ++k)
    write(k % 2 != 0 ? a : b, k % 2 != 0 ? b : a, 50000);
  CHECK(cudaStreamEndCapture(s, &graph));
  std::size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  std::vector<cudaGraphNode_t> all(nodes);
  CHECK(cudaGraphGetNodes(graph, all.data(), &nodes));
  CHECK(cudaGraphInstantiate(&made, graph, 0));
  for (const cudaGraphNode_t node : all) {
    cudaKernelNodeParams parameters{};
    CHECK(cudaGraphKernelNodeGetParams(node, &parameters));
    if (parameters.func != reinterpret_cast<void*>(write_late)) std::printf("not its own kernel\n");
  }
  for (int k = 0; k < 20; ++k)
    CHECK(cudaGraphLaunch(made, s));
  std::printf("%zu nodes, %zu edges\n", nodes, edges);
  tell("a graph");

  for (int k = 0; k < many; ++k)
    count_up<<<1, 1, 0, s>>>(counter);
  tell("very many");
  return 0;
}
