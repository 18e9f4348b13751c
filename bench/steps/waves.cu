// A program that iterates wave equations, three arrays in rotation, and knows nothing of merged
// launches:
//
//   for (...) { wave<<<grid, block>>>(old, now, next, ...); rotate(old, now, next); }
//
//   waves time STEPS KERNEL SIZE...  microseconds a step, and a digest of the three arrays
//   waves check KERNEL               digests for sizes 1 to 70 and 1 to 65 steps
//
// bench/steps/launched runs it by itself and under `ptxasw launch --steps`.
#include "arrays.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define WAVES(real, type)                                                                          \
  extern "C" __global__ void wave5pt_##type(const real* old, const real* now, real* next, int nx,  \
                                            int ny) {                                              \
    const int x = blockIdx.x * blockDim.x + threadIdx.x,                                           \
              y = blockIdx.y * blockDim.y + threadIdx.y;                                           \
    if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1) return;                                      \
    const int i = y * nx + x;                                                                      \
    next[i] =                                                                                      \
        real(2) * now[i] - old[i] +                                                                \
        real(0.2) * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - real(4) * now[i]);      \
  }                                                                                                \
  extern "C" __global__ void wave9pt_##type(const real* old, const real* now, real* next, int nx,  \
                                            int ny) {                                              \
    const int x = blockIdx.x * blockDim.x + threadIdx.x,                                           \
              y = blockIdx.y * blockDim.y + threadIdx.y;                                           \
    if (x < 2 || x >= nx - 2 || y < 2 || y >= ny - 2) return;                                      \
    const int i = y * nx + x;                                                                      \
    const real near = now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx],                         \
               far = now[i - 2] + now[i + 2] + now[i - 2 * nx] + now[i + 2 * nx];                  \
    next[i] =                                                                                      \
        real(2) * now[i] - old[i] + real(0.1 / 12) * (real(16) * near - far - real(60) * now[i]);  \
  }                                                                                                \
  extern "C" __global__ void damped_##type(const real* old, const real* now, real* next, int nx,   \
                                           int ny) { /* reads neighbours of both */                \
    const int x = blockIdx.x * blockDim.x + threadIdx.x,                                           \
              y = blockIdx.y * blockDim.y + threadIdx.y;                                           \
    if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1) return;                                      \
    const int i = y * nx + x;                                                                      \
    next[i] = real(0.9) * now[i] + real(0.02) * (now[i - 1] + now[i + 1] + now[i - nx]) -          \
              real(0.01) * (old[i + nx] + old[i - 1] - old[i]);                                    \
  }
WAVES(float, f32)
WAVES(double, f64)

extern "C" __global__ void string_f32(const float* old, const float* now, float* next, int nx,
                                      int) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < 1 || x >= nx - 1) return;
  next[x] = 2 * now[x] - old[x] + 0.3f * (now[x - 1] + now[x + 1] - 2 * now[x]);
}

namespace {

struct Kernel {
  const char* name;
  const void* function;
  bool is_double, is_line;
};

#define BOTH(name)                                                                                 \
  {#name "_f32", (const void*)name##_f32, false, false}, {                                         \
#name "_f64", (const void*)name##_f64, true, false                                             \
  }
const Kernel kernels[] = {BOTH(wave5pt),
                          BOTH(wave9pt),
                          BOTH(damped),
                          {"string_f32", (const void*)string_f32, false, true}};

struct Digests {
  unsigned long long of[3];
};

struct Loop {
  Kernel kernel;
  int nx, ny;
  size_t words;
  void* arrays[3] = {};
  unsigned long long* sums = nullptr;
  cudaStream_t stream = nullptr;

  Loop(const Kernel& k, int x, int y)
      : kernel(k), nx(k.is_line ? x * y : x), ny(k.is_line ? 1 : y),
        words(size_t(nx) * ny * (k.is_double ? 2 : 1)) {
    for (void*& array : arrays)
      CHECK(cudaMalloc(&array, words * 4));
    CHECK(cudaMalloc(&sums, 3 * sizeof *sums));
    CHECK(cudaStreamCreate(&stream));
  }
  Loop(const Loop&) = delete;
  ~Loop() {
    for (void* array : arrays)
      cudaFree(array);
    cudaFree(sums);
    cudaStreamDestroy(stream);
  }

  unsigned blocks() const { return unsigned((words + 255) / 256); }
  void start() {
    for (unsigned n = 0; n < 3; ++n)
      fill<<<blocks(), 256, 0, stream>>>((unsigned*)arrays[n], words, n + 1, kernel.is_double);
  }
  void run(unsigned steps) {
    const dim3 block = kernel.is_line ? dim3(256) : dim3(32, 8);
    const dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
    void *old = arrays[0], *now = arrays[1], *next = arrays[2];
    for (unsigned n = 0; n < steps; ++n) {
      void* parameters[] = {&old, &now, &next, &nx, &ny};
      CHECK(cudaLaunchKernel(kernel.function, grid, block, parameters, 0, stream));
      void* const oldest = old;
      old = now;
      now = next;
      next = oldest;
    }
  }
  Digests digests() {
    Digests made;
    CHECK(cudaMemsetAsync(sums, 0, sizeof made, stream));
    for (unsigned n = 0; n < 3; ++n)
      digest<<<blocks(), 256, 0, stream>>>((unsigned*)arrays[n], words, sums + n);
    CHECK(cudaMemcpyAsync(made.of, sums, sizeof made, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return made;
  }
};

// The median of some repeats, of which the first one only warms up.
float microseconds(Loop& loop, unsigned steps) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (unsigned repeat = 0; repeat < 6; ++repeat) {
    CHECK(cudaEventRecord(begin, loop.stream));
    loop.run(steps);
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
  Loop loop(kernel, n, n);
  loop.start();
  const float by_launches = microseconds(loop, steps);
  const Digests sums = loop.digests();
  std::printf("%s %d %u %.3f %016llx%016llx%016llx\n", kernel.name, n, steps, by_launches,
              sums.of[0], sums.of[1], sums.of[2]);
  std::fflush(stdout);
}

void check(const Kernel& kernel) {
  for (int n = 1; n <= 70; ++n) {
    Loop loop(kernel, n, 1 + (n * 37) % 70);
    for (unsigned steps : {1 + n % 65, 1 + (n * 7) % 65, 1 + (n * 23 + 5) % 65}) {
      loop.start();
      loop.run(steps);
      const Digests sums = loop.digests();
      std::printf("%s %dx%d %u %016llx%016llx%016llx\n", kernel.name, loop.nx, loop.ny, steps,
                  sums.of[0], sums.of[1], sums.of[2]);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const bool times = argc > 4 && std::strcmp(argv[1], "time") == 0;
  if (!times && (argc != 3 || std::strcmp(argv[1], "check") != 0)) {
    std::fprintf(stderr, "usage: waves time STEPS KERNEL SIZE... | waves check KERNEL\n");
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
