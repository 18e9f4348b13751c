// Times entries that march through planes as bench/steps/shapes.cpp makes them, against plain
// launches. See bench/steps/sweep.cu, whose lines these are:
//
//   sweep FOLDER SIZE... < LIST
#include "../../kernels/iterated3d.cu"
#include "../arrays.cuh"

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

// Two neighbours on either side along each axis, and the suite's guards.
template <typename T> __device__ void star(const T* in, T* out, int nx, int ny, int nz) {
  const int i = 2 + blockIdx.x * blockDim.x + threadIdx.x,
            j = 2 + blockIdx.y * blockDim.y + threadIdx.y, k = 2 + blockIdx.z;
  if (i >= nx - 2 || j >= ny - 2 || k >= nz - 2) return;
  const int c = Box{nx, ny}(i, j, k), nxy = nx * ny;
  const T* p = in + c;
  out[c] = T(0.25) * p[0] + T(0.1) * (p[-1] + p[1] + p[-nx] + p[nx] + p[-nxy] + p[nxy]) +
           T(0.025) * (p[-2] + p[2] + p[-2 * nx] + p[2 * nx] + p[-2 * nxy] + p[2 * nxy]);
}
extern "C" __global__ void j3ds13pt_f32(const float* __restrict__ in, float* __restrict__ out,
                                        int nx, int ny, int nz) {
  star(in, out, nx, ny, nz);
}
extern "C" __global__ void j3ds13pt_f64(const double* __restrict__ in, double* __restrict__ out,
                                        int nx, int ny, int nz) {
  star(in, out, nx, ny, nz);
}

// Beside what is stepped arrays are read that nobody stores to.
#define INSIDE                                                                                     \
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,  \
            z = 1 + blockIdx.z, nxy = nx * ny, i = z * nxy + y * nx + x;                           \
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
template <typename T> __device__ T sum(const T* u, int i, int nx, int nxy) {
  return u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nxy] + u[i + nxy];
}
#define WITH_OTHERS(type, suffix)                                                                  \
  extern "C" __global__ void source_##suffix(const type* __restrict__ u, type* __restrict__ v,     \
                                             int nx, int ny, int nz, const type* __restrict__ f) { \
    INSIDE                                                                                         \
    v[i] = (sum(u, i, nx, nxy) + f[i]) * type(1.0 / 7.0);                                          \
  }                                                                                                \
  extern "C" __global__ void flux_##suffix(const type* __restrict__ u, type* __restrict__ v,       \
                                           int nx, int ny, int nz, const type* __restrict__ c) {   \
    INSIDE                                                                                         \
    const type m = u[i];                                                                           \
    v[i] =                                                                                         \
        m + type(0.02) *                                                                           \
                ((c[i] + c[i - 1]) * (u[i - 1] - m) + (c[i] + c[i + 1]) * (u[i + 1] - m) +         \
                 (c[i] + c[i - nx]) * (u[i - nx] - m) + (c[i] + c[i + nx]) * (u[i + nx] - m) +     \
                 (c[i] + c[i - nxy]) * (u[i - nxy] - m) + (c[i] + c[i + nxy]) * (u[i + nxy] - m)); \
  }                                                                                                \
  extern "C" __global__ void faces_##suffix(                                                       \
      const type* __restrict__ u, type* __restrict__ v, int nx, int ny, int nz,                    \
      const type* __restrict__ a, const type* __restrict__ b, const type* __restrict__ c) {        \
    INSIDE                                                                                         \
    const type m = u[i];                                                                           \
    v[i] = m + type(0.05) * (a[i] * (u[i - 1] - m) + a[i + 1] * (u[i + 1] - m) +                   \
                             b[i] * (u[i - nx] - m) + b[i + nx] * (u[i + nx] - m) +                \
                             c[i] * (u[i - nxy] - m) + c[i + nxy] * (u[i + nxy] - m));             \
  }                                                                                                \
  extern "C" __global__ void damped_##suffix(const type* __restrict__ u, type* __restrict__ v,     \
                                             int nx, int ny, int nz, const type* __restrict__ c,   \
                                             const type* __restrict__ f) {                         \
    INSIDE                                                                                         \
    v[i] = u[i] + type(0.05) * c[i] * (sum(u, i, nx, nxy) - type(6) * u[i]) + type(0.01) * f[i];   \
  }                                                                                                \
  extern "C" __global__ void layers_##suffix(                                                      \
      const type* __restrict__ u, type* __restrict__ v, int nx, int ny, int nz,                    \
      const type* __restrict__ a, const type* __restrict__ b, const type* __restrict__ c) {        \
    INSIDE                                                                                         \
    const type m = u[i] + u[i];                                                                    \
    v[i] = u[i] +                                                                                  \
           type(0.05) * (a[i] * (u[i - 1] - m + u[i + 1]) + b[i] * (u[i - nx] - m + u[i + nx]) +   \
                         c[i] * (u[i - nxy] - m + u[i + nxy]));                                    \
  }                                                                                                \
  extern "C" __global__ void power_##suffix(const type* __restrict__ u, type* __restrict__ v,      \
                                            int nx, int ny, int nz, const type* __restrict__ p) {  \
    const int x = blockIdx.x * blockDim.x + threadIdx.x,                                           \
              y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z, nxy = nx * ny,            \
              i = z * nxy + y * nx + x;                                                            \
    if (x >= nx || y >= ny || z >= nz) return;                                                     \
    const int l = x == 0 ? i : i - 1, r = x == nx - 1 ? i : i + 1, a = y == 0 ? i : i - nx,        \
              b = y == ny - 1 ? i : i + nx, f = z == 0 ? i : i - nxy,                              \
              h = z == nz - 1 ? i : i + nxy;                                                       \
    v[i] = type(0.3) * u[i] + type(0.1) * (u[l] + u[r]) + type(0.12) * (u[a] + u[b]) +             \
           type(0.11) * (u[f] + u[h]) + type(0.04) * p[i];                                         \
  }                                                                                                \
  extern "C" __global__ void box_##suffix(const type* __restrict__ u, type* __restrict__ v,        \
                                          int nx, int ny, int nz, const type* __restrict__ f) {    \
    INSIDE                                                                                         \
    v[i] = TwentySeven<type>::point({u, i, nx, nxy}) * type(0.5) + type(0.5) * f[i];               \
  }                                                                                                \
  extern "C" __global__ void far_##suffix(const type* __restrict__ in, type* __restrict__ out,     \
                                          int nx, int ny, int nz, const type* __restrict__ f) {    \
    const int i = 2 + blockIdx.x * blockDim.x + threadIdx.x,                                       \
              j = 2 + blockIdx.y * blockDim.y + threadIdx.y, k = 2 + blockIdx.z;                   \
    if (i >= nx - 2 || j >= ny - 2 || k >= nz - 2) return;                                         \
    const int c = Box{nx, ny}(i, j, k), nxy = nx * ny;                                             \
    const type* p = in + c;                                                                        \
    out[c] = type(0.25) * p[0] + type(0.08) * sum(in, c, nx, nxy) + type(0.1) * f[c] +             \
             type(0.025) * (p[-2] + p[2] + p[-2 * nx] + p[2 * nx] + p[-2 * nxy] + p[2 * nxy]);     \
  }
WITH_OTHERS(float, f32)
WITH_OTHERS(double, f64)

namespace {

struct Plain {
  const void* function;
  bool is_double;
  int left_out = 2; // planes without threads
};
#define BOTH(name, ...)                                                                            \
  {#name "_f32", {(const void*)name##_f32, false, ##__VA_ARGS__}}, {                               \
#name "_f64", {                                                                                \
      (const void*)name##_f64, true, ##__VA_ARGS__                                                 \
    }                                                                                              \
  }
const std::map<std::string, Plain> kernels{
    BOTH(j3d7pt), BOTH(j3d27pt), BOTH(poisson), BOTH(j3ds13pt), BOTH(source), BOTH(flux),
    BOTH(faces),  BOTH(damped),  BOTH(layers),  BOTH(power, 0), BOTH(box),    BOTH(far)};

__global__ void count_different(const unsigned* a, const unsigned* b, size_t words,
                                unsigned* different) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < words && a[i] != b[i]) atomicAdd(different, 1u);
}

struct Entry {
  std::string name, kernel;
  unsigned count, threads, covers[3];
  CUfunction function = nullptr;
  unsigned others = 0; // arrays that are read beside, the last parameters
};

template <class Go> double microseconds(unsigned repeats, const Go& go) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (unsigned n = 0; n <= repeats; ++n) {
    CHECK(cudaEventRecord(begin));
    go();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float t = 0;
    CHECK(cudaEventElapsedTime(&t, begin, end));
    if (n != 0) times.push_back(t);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1000.0;
}

struct Cubes {
  int n;
  size_t words;
  unsigned *a, *b, *c, *different, *others[3];
  bool is_double;
  Cubes(int size, bool wide)
      : n(size), words(size_t(size) * size * size * (wide ? 2 : 1)), is_double(wide) {
    for (unsigned** one : {&a, &b, &c})
      CHECK(cudaMalloc(one, words * 4));
    CHECK(cudaMalloc(&different, 4));
    for (unsigned k = 0; k < 3; ++k) {
      CHECK(cudaMalloc(&others[k], words * 4));
      fill<<<blocks(), 256>>>(others[k], words, 3 + k, is_double);
    }
  }
  ~Cubes() {
    for (unsigned* one : {a, b, c, different, others[0], others[1], others[2]})
      cudaFree(one);
  }
  unsigned blocks() const { return unsigned((words + 255) / 256); }
  void start() {
    fill<<<blocks(), 256>>>(a, words, 1, is_double);
    fill<<<blocks(), 256>>>(b, words, 2, is_double);
  }
  void plain(const Plain& kernel, unsigned steps, dim3 block) {
    void *in = a, *out = b;
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y, n - kernel.left_out);
    for (unsigned s = 0; s < steps; ++s) {
      void* parameters[] = {&in, &out, &n, &n, &n, &others[0], &others[1], &others[2]};
      CHECK(cudaLaunchKernel(kernel.function, grid, block, parameters, 0, nullptr));
      std::swap(in, out);
    }
  }
  void merged(const Plain& kernel, const Entry& entry, unsigned launches) {
    void *in = a, *out = b;
    unsigned threads[4] = {(unsigned(n) + 31) / 32 * 32, (unsigned(n) + 7) / 8 * 8,
                           unsigned(n - kernel.left_out), entry.count};
    unsigned grid[3];
    for (int axis = 0; axis < 3; ++axis)
      grid[axis] = (threads[axis] + entry.covers[axis] - 1) / entry.covers[axis];
    for (unsigned s = 0; s < launches; ++s) {
      std::vector<void*> parameters{&in, &out, &n, &n, &n};
      for (unsigned k = 0; k < entry.others; ++k)
        parameters.push_back(&others[k]);
      parameters.push_back(threads);
      CUlaunchAttribute attribute{};
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = 1;
      CUlaunchConfig config{};
      config.gridDimX = grid[0], config.gridDimY = grid[1], config.gridDimZ = grid[2];
      config.blockDimX = entry.threads, config.blockDimY = config.blockDimZ = 1;
      config.attrs = &attribute;
      config.numAttrs = s > 0 ? 1 : 0; // as the launcher does
      if (cuLaunchKernelEx(&config, entry.function, parameters.data(), nullptr) != CUDA_SUCCESS) {
        std::fprintf(stderr, "%s cannot be launched\n", entry.name.c_str());
        return;
      }
      std::swap(in, out);
    }
  }
};

void measure(const std::string& kernel, const std::vector<Entry>& entries, int n) {
  const Plain& plain = kernels.at(kernel);
  Cubes cubes(n, plain.is_double);
  double best = 0;
  for (const dim3 block : {dim3(32, 8), dim3(64, 4)}) {
    cubes.start();
    const double t = microseconds(3, [&] { cubes.plain(plain, 12, block); }) / 12;
    std::printf("N %s %d %ux%u %.3f\n", kernel.c_str(), n, block.x, block.y, t);
    if (best == 0 || t < best) best = t;
  }
  for (const Entry& entry : entries) {
    if (entry.kernel != kernel) continue;
    cubes.start();
    cubes.plain(plain, 3 * entry.count, dim3(32, 8));
    CHECK(cudaMemcpy(cubes.c, cubes.b, cubes.words * 4, cudaMemcpyDeviceToDevice));
    cubes.start();
    cubes.merged(plain, entry, 3);
    CHECK(cudaMemset(cubes.different, 0, 4));
    count_different<<<cubes.blocks(), 256>>>(cubes.b, cubes.c, cubes.words, cubes.different);
    unsigned different = 0;
    CHECK(cudaMemcpy(&different, cubes.different, 4, cudaMemcpyDeviceToHost));
    const double t = microseconds(3, [&] { cubes.merged(plain, entry, 6); }) / 6 / entry.count;
    std::printf("S %s %d %.3f %.3f %s\n", entry.name.c_str(), n, t, best / t,
                different == 0 ? "same" : "DIFFERENT");
    std::fflush(stdout);
  }
}

} // namespace

int main(int argc, char** argv) {
  CHECK(cudaFree(nullptr));
  std::vector<Entry> entries;
  std::vector<std::string> names;
  Entry entry;
  while (std::cin >> entry.name >> entry.kernel >> entry.count >> entry.threads >>
         entry.covers[0] >> entry.covers[1] >> entry.covers[2]) {
    std::ifstream in(std::string(argv[1]) + "/" + entry.name + ".cubin", std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(in), {}};
    CUmodule module = nullptr;
    if (image.empty() || cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS ||
        cuModuleGetFunction(&entry.function, module, "steps") != CUDA_SUCCESS) {
      std::fprintf(stderr, "%s: no such entry\n", entry.name.c_str());
      continue;
    }
    size_t offset = 0, bytes = 0;
    while (cuFuncGetParamInfo(entry.function, 6 + entry.others, &offset, &bytes) == CUDA_SUCCESS)
      ++entry.others;
    int registers = 0, stack = 0, blocks = 0;
    cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, entry.function);
    cuFuncGetAttribute(&stack, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, entry.function);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry.function, int(entry.threads), 0);
    std::printf("F %s regs %d local %d blocks %d threads %u\n", entry.name.c_str(), registers,
                stack, blocks, entry.threads);
    entries.push_back(entry);
    entry.others = 0;
    if (std::find(names.begin(), names.end(), entry.kernel) == names.end())
      names.push_back(entry.kernel);
  }
  for (int n = 2; n < argc; ++n)
    for (const std::string& kernel : names)
      measure(kernel, entries, std::atoi(argv[n]));
}
