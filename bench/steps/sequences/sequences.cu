// Programs whose step is a sequence of launches, or that do something else every k steps, as people
// write them; they know nothing of merged launches.
//
//   sequences WAY [SIZE | steps=N | PROGRAM]...     WAY: plain, or graph (the whole loop captured
//   once)
//
// Without sizes, numbers of steps or programs: all of them.
//
// A line for each program, size and number of steps:
//
//   NAME SIZE STEPS WAY DIGEST | FIRST MEDIAN      microseconds of the first loop, and of five more
//
// A loop is timed by the host's clock from before its first launch until the device is done.
#include "../arrays.cuh"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#define PLACE                                                                                      \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,  \
            i = y * n + x

__global__ void heat(const float* a, float* b, int n) {
  PLACE;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
}
__global__ void copy_back(const float* b, float* a, int n) {
  PLACE;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) a[i] = b[i];
}
__global__ void nine(const float* a, float* b, int n) {
  PLACE;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    b[i] = (a[i - n - 1] + 2 * a[i - n] + a[i - n + 1] + 2 * a[i - 1] + 4 * a[i] + 2 * a[i + 1] +
            a[i + n - 1] + 2 * a[i + n] + a[i + n + 1]) /
           (a[i] + 14.f);
}
__global__ void residual(const float* a, const float* b, float* sums, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n * n; i += gridDim.x * 256)
    sum += fabsf(a[i] - b[i]);
  part[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
// Two fields: a wave with its velocity.
__global__ void velocity(const float* u, float* v, int n) {
  PLACE;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    v[i] = 0.999f * v[i] + 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * u[i]);
}
__global__ void position(const float* v, float* u, int n) {
  PLACE;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1) u[i] += 0.5f * v[i];
}
// FDTD in two dimensions, three kernels.
__global__ void step_ey(float* ey, const float* hz, int n) {
  PLACE;
  if (x < n && y > 0 && y < n) ey[i] -= 0.5f * (hz[i] - hz[i - n]);
}
__global__ void step_ex(float* ex, const float* hz, int n) {
  PLACE;
  if (x > 0 && x < n && y < n) ex[i] -= 0.5f * (hz[i] - hz[i - 1]);
}
__global__ void step_hz(const float* ex, const float* ey, float* hz, int n) {
  PLACE;
  if (x < n - 1 && y < n - 1) hz[i] -= 0.7f * (ex[i + 1] - ex[i] + ey[i + n] - ey[i]);
}

struct Arrays {
  int n;
  std::vector<float*> all;
  float* sums = nullptr;
  cudaStream_t stream = nullptr;
  dim3 block{32, 8}, grid;

  explicit Arrays(int side) : n(side), grid((side + 31) / 32, (side + 7) / 8) {
    for (unsigned k = 0; k < 3; ++k) {
      all.push_back(nullptr);
      CHECK(cudaMalloc(&all.back(), sizeof(float) * n * n));
      fill<<<(n * n + 255) / 256, 256>>>((unsigned*)all.back(), n * n, k, false);
    }
    CHECK(cudaMalloc(&sums, sizeof(float) * 264));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceSynchronize());
  }
  Arrays(const Arrays&) = delete;
  ~Arrays() {
    for (float* array : all)
      cudaFree(array);
    cudaFree(sums);
    cudaStreamDestroy(stream);
  }
  void swap() { std::swap(all[0], all[1]); }
  unsigned long long digests() {
    unsigned long long *on_device = nullptr, sum = 0;
    CHECK(cudaMalloc(&on_device, sizeof sum));
    CHECK(cudaMemsetAsync(on_device, 0, sizeof sum, stream));
    for (float* array : all)
      digest<<<(n * n + 255) / 256, 256, 0, stream>>>((unsigned*)array, n * n, on_device);
    CHECK(cudaMemcpyAsync(&sum, on_device, sizeof sum, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(on_device));
    return sum;
  }
};

struct Program {
  std::string name;
  std::function<void(Arrays&, int)> step; // the number of the step
};

void heat_step(Arrays& a) {
  heat<<<a.grid, a.block, 0, a.stream>>>(a.all[0], a.all[1], a.n);
}

std::vector<Program> programs() {
  std::vector<Program> all;
  all.push_back({"swapped", [](Arrays& a, int) {
                   heat_step(a);
                   a.swap();
                 }});
  all.push_back({"nine_divided", [](Arrays& a, int) {
                   nine<<<a.grid, a.block, 0, a.stream>>>(a.all[0], a.all[1], a.n);
                   a.swap();
                 }});
  for (const int k : {3, 5, 7, 10, 20})
    all.push_back({"residual_every_" + std::to_string(k), [k](Arrays& a, int number) {
                     heat_step(a);
                     a.swap();
                     if (number % k == k - 1)
                       residual<<<264, 256, 0, a.stream>>>(a.all[0], a.all[1], a.sums, a.n);
                   }});
  all.push_back({"memcpy_back", [](Arrays& a, int) {
                   heat_step(a);
                   CHECK(cudaMemcpyAsync(a.all[0], a.all[1], sizeof(float) * a.n * a.n,
                                         cudaMemcpyDeviceToDevice, a.stream));
                 }});
  all.push_back({"memcpy_back_residual", [](Arrays& a, int number) {
                   heat_step(a);
                   CHECK(cudaMemcpyAsync(a.all[0], a.all[1], sizeof(float) * a.n * a.n,
                                         cudaMemcpyDeviceToDevice, a.stream));
                   if (number % 10 == 9)
                     residual<<<264, 256, 0, a.stream>>>(a.all[0], a.all[2], a.sums, a.n);
                 }});
  all.push_back({"copied_back", [](Arrays& a, int) {
                   heat_step(a);
                   copy_back<<<a.grid, a.block, 0, a.stream>>>(a.all[1], a.all[0], a.n);
                 }});
  all.push_back({"with_velocity", [](Arrays& a, int) {
                   velocity<<<a.grid, a.block, 0, a.stream>>>(a.all[0], a.all[1], a.n);
                   position<<<a.grid, a.block, 0, a.stream>>>(a.all[1], a.all[0], a.n);
                 }});
  all.push_back({"fdtd2d", [](Arrays& a, int) {
                   step_ey<<<a.grid, a.block, 0, a.stream>>>(a.all[0], a.all[2], a.n);
                   step_ex<<<a.grid, a.block, 0, a.stream>>>(a.all[1], a.all[2], a.n);
                   step_hz<<<a.grid, a.block, 0, a.stream>>>(a.all[1], a.all[0], a.all[2], a.n);
                 }});
  return all;
}

// The loop, again and again: its first time, and the median of five more.
void measure(const Program& program, int side, int steps, const std::string& way) {
  Arrays a(side);
  const auto loop = [&] {
    for (int k = 0; k < steps; ++k)
      program.step(a, k);
    if (steps % 2 != 0) program.step(a, steps); // a graph has to find the arrays where they were
  };
  cudaGraphExec_t graph = nullptr;
  if (way == "graph") {
    cudaGraph_t made = nullptr;
    CHECK(cudaStreamBeginCapture(a.stream, cudaStreamCaptureModeThreadLocal));
    loop();
    CHECK(cudaStreamEndCapture(a.stream, &made));
    CHECK(cudaGraphInstantiate(&graph, made, 0));
    CHECK(cudaGraphDestroy(made));
  }
  std::vector<double> times;
  for (int k = 0; k < 6; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    if (graph != nullptr)
      CHECK(cudaGraphLaunch(graph, a.stream));
    else
      loop();
    CHECK(cudaStreamSynchronize(a.stream));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  std::sort(times.begin() + 1, times.end());
  std::printf("%s %d %d %s %016llx | %.1f %.1f\n", program.name.c_str(), side, steps, way.c_str(),
              a.digests(), times[0], times[3]);
  std::fflush(stdout);
  if (graph != nullptr) CHECK(cudaGraphExecDestroy(graph));
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "plain";
  std::vector<int> sizes, numbers;
  std::vector<std::string> names;
  for (int k = 2; k < argc; ++k)
    if (std::strncmp(argv[k], "steps=", 6) == 0)
      numbers.push_back(std::atoi(argv[k] + 6));
    else if (std::atoi(argv[k]) != 0)
      sizes.push_back(std::atoi(argv[k]));
    else
      names.push_back(argv[k]);
  if (sizes.empty()) sizes = {256, 512, 1024, 2048, 4096};
  if (numbers.empty()) numbers = {7, 100, 1000};
  for (const Program& program : programs())
    if (names.empty() || std::find(names.begin(), names.end(), program.name) != names.end())
      for (const int size : sizes)
        for (const int steps : numbers)
          measure(program, size, steps, way);
}
