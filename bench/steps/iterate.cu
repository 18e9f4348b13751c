// A program that iterates a stencil of suite T and knows nothing of merged launches:
//
//   for (...) { step<<<grid, block>>>(in, out, ...); std::swap(in, out); }
//
//   iterate time STEPS KERNEL SIZE...  microseconds a step: launch by launch, and as one CUDA graph
//                                      of the same launches; and a digest of both arrays
//   iterate check KERNEL               digests for sizes 1 to 70 and 1 to 65 steps
//
// bench/steps/launched runs it by itself and under `ptxasw launch --steps`.
#include "../kernels/iterated2d.cu"
#undef KERNEL
#include "../kernels/iterated3d.cu"
#include "arrays.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Kernel {
  const char* name;
  const void* function;
  bool is_double, in_space;
};

#define PLANE(name)                                                                                \
  {#name "_f32", (const void*)name##_f32, false, false}, {                                         \
#name "_f64", (const void*)name##_f64, true, false                                             \
  }
#define SPACE(name)                                                                                \
  {#name "_f32", (const void*)name##_f32, false, true}, {                                          \
#name "_f64", (const void*)name##_f64, true, true                                              \
  }
const Kernel kernels[] = {PLANE(j2d5pt), PLANE(j2ds9pt), PLANE(j2d9pt), PLANE(j2d25pt),
                          SPACE(j3d7pt), SPACE(j3d27pt), SPACE(poisson)};

struct Loop {
  Kernel kernel;
  int nx, ny, nz;
  size_t words;
  void *a = nullptr, *b = nullptr;
  unsigned long long* sums = nullptr;
  cudaStream_t stream = nullptr;

  Loop(const Kernel& k, int x, int y, int z)
      : kernel(k), nx(x), ny(y), nz(z),
        words(size_t(x) * y * (k.in_space ? z : 1) * (k.is_double ? 2 : 1)) {
    CHECK(cudaMalloc(&a, words * 4));
    CHECK(cudaMalloc(&b, words * 4));
    CHECK(cudaMalloc(&sums, 2 * sizeof *sums));
    CHECK(cudaStreamCreate(&stream));
  }
  Loop(const Loop&) = delete;
  ~Loop() {
    cudaFree(a);
    cudaFree(b);
    cudaFree(sums);
    cudaStreamDestroy(stream);
  }

  unsigned blocks() const { return unsigned((words + 255) / 256); }
  void start() {
    fill<<<blocks(), 256, 0, stream>>>((unsigned*)a, words, 1, kernel.is_double);
    fill<<<blocks(), 256, 0, stream>>>((unsigned*)b, words, 2, kernel.is_double);
  }
  void run(unsigned steps) {
    const dim3 block(32, 8);
    const dim3 grid((nx + 31) / 32, (ny + 7) / 8, kernel.in_space ? nz : 1);
    void *in = a, *out = b;
    for (unsigned n = 0; n < steps; ++n) {
      void* parameters[] = {&in, &out, &nx, &ny, &nz};
      CHECK(cudaLaunchKernel(kernel.function, grid, block, parameters, 0, stream));
      std::swap(in, out);
    }
  }
  void digests(unsigned long long (&of)[2]) {
    CHECK(cudaMemsetAsync(sums, 0, 2 * sizeof *sums, stream));
    digest<<<blocks(), 256, 0, stream>>>((unsigned*)a, words, sums);
    digest<<<blocks(), 256, 0, stream>>>((unsigned*)b, words, sums + 1);
    CHECK(cudaMemcpyAsync(of, sums, sizeof of, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
};

// The median of some repeats, of which the first one only warms up.
template <class Go> float microseconds(Loop& loop, unsigned steps, const Go& go) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (unsigned repeat = 0; repeat < 6; ++repeat) {
    CHECK(cudaEventRecord(begin, loop.stream));
    go();
    CHECK(cudaEventRecord(end, loop.stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (repeat != 0) times.push_back(milliseconds * 1000 / float(steps));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void time(const Kernel& kernel, unsigned steps, int n) {
  Loop loop(kernel, n, n, n);
  unsigned long long plain[2], graph[2];
  loop.start();
  const float by_launches = microseconds(loop, steps, [&] { loop.run(steps); });
  loop.digests(plain);
  cudaGraph_t captured;
  cudaGraphExec_t made;
  CHECK(cudaStreamBeginCapture(loop.stream, cudaStreamCaptureModeGlobal));
  loop.run(steps);
  CHECK(cudaStreamEndCapture(loop.stream, &captured));
  CHECK(cudaGraphInstantiate(&made, captured, 0));
  loop.start();
  const float by_graph =
      microseconds(loop, steps, [&] { CHECK(cudaGraphLaunch(made, loop.stream)); });
  loop.digests(graph);
  CHECK(cudaGraphExecDestroy(made));
  CHECK(cudaGraphDestroy(captured));
  std::printf("%s %d %u %.3f %.3f %016llx%016llx %s\n", kernel.name, n, steps, by_launches,
              by_graph, plain[0], plain[1],
              std::memcmp(plain, graph, sizeof plain) == 0 ? "equal" : "DIFFERENT");
  std::fflush(stdout);
}

void check(const Kernel& kernel) {
  for (int n = 1; n <= 70; ++n) {
    Loop loop(kernel, n, 1 + (n * 37) % 70, 1 + n % 5);
    for (unsigned steps : {1 + n % 65, 1 + (n * 7) % 65, 1 + (n * 23 + 5) % 65}) {
      unsigned long long of[2];
      loop.start();
      loop.run(steps);
      loop.digests(of);
      std::printf("%s %dx%dx%d %u %016llx%016llx\n", kernel.name, loop.nx, loop.ny, loop.nz, steps,
                  of[0], of[1]);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const bool times = argc > 4 && std::strcmp(argv[1], "time") == 0;
  if (!times && (argc != 3 || std::strcmp(argv[1], "check") != 0)) {
    std::fprintf(stderr, "usage: iterate time STEPS KERNEL SIZE... | iterate check KERNEL\n");
    return 2;
  }
  const std::string name = argv[times ? 3 : 2]; // of a kernel, or a part of several names
  for (const Kernel& kernel : kernels) {
    if (std::string(kernel.name).find(name) == std::string::npos) continue;
    if (!times) check(kernel);
    for (int n = 4; times && n < argc; ++n)
      time(kernel, unsigned(std::atoi(argv[2])), std::atoi(argv[n]));
  }
}
