// Times entries of several steps as bench/steps/shapes.cpp makes them, against plain launches.
//
//   sweep FOLDER < LIST     FOLDER has NAME.cubin for each NAME of the list that step_shapes wrote
//
// Lines out: `F NAME registers stack shared blocks-an-SM threads`; `N KERNEL SIZE BLOCK us`: a
// plain launch, of 20 in a row; `S NAME SIZE us gain same|DIFFERENT`: a step of an entry
// launched twelve times in a row (four times from 4096 up), against the faster of the plain ones,
// and the array behind five of them compared with plain launches; `A ...`: the same, each entry but
// the first launched with programmatic stream serialization, as the launcher does. Medians of five.
#include "../kernels/iterated2d.cu"
#include "arrays.cuh"

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

namespace {

struct Plain {
  const void* function;
  bool is_double;
};
const std::map<std::string, Plain> kernels{{"j2d5pt_f32", {(const void*)j2d5pt_f32, false}},
                                           {"j2d9pt_f32", {(const void*)j2d9pt_f32, false}},
                                           {"j2ds9pt_f32", {(const void*)j2ds9pt_f32, false}},
                                           {"j2d25pt_f32", {(const void*)j2d25pt_f32, false}},
                                           {"j2d5pt_f64", {(const void*)j2d5pt_f64, true}},
                                           {"j2d9pt_f64", {(const void*)j2d9pt_f64, true}},
                                           {"j2ds9pt_f64", {(const void*)j2ds9pt_f64, true}},
                                           {"j2d25pt_f64", {(const void*)j2d25pt_f64, true}}};

__global__ void count_different(const unsigned* a, const unsigned* b, size_t words,
                                unsigned* different) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < words && a[i] != b[i]) atomicAdd(different, 1u);
}

struct Entry {
  std::string name, kernel;
  unsigned count, threads, covers_x, covers_y;
  CUfunction function = nullptr;
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

struct Planes {
  int n;
  size_t words;
  unsigned *a, *b, *c, *different;
  bool is_double;
  Planes(int size, bool wide)
      : n(size), words(size_t(size) * size * (wide ? 2 : 1)), is_double(wide) {
    for (unsigned** one : {&a, &b, &c})
      CHECK(cudaMalloc(one, words * 4));
    CHECK(cudaMalloc(&different, 4));
  }
  ~Planes() {
    for (unsigned* one : {a, b, c, different})
      cudaFree(one);
  }
  unsigned blocks() const { return unsigned((words + 255) / 256); }
  void start() {
    fill<<<blocks(), 256>>>(a, words, 1, is_double);
    fill<<<blocks(), 256>>>(b, words, 2, is_double);
  }
  void plain(const void* function, unsigned steps, dim3 block) {
    void *in = a, *out = b;
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    for (unsigned s = 0; s < steps; ++s) {
      void* parameters[] = {&in, &out, &n, &n};
      CHECK(cudaLaunchKernel(function, grid, block, parameters, 0, nullptr));
      std::swap(in, out);
    }
  }
  void merged(const Entry& entry, unsigned launches, bool ahead) {
    void *in = a, *out = b;
    const unsigned gx = (unsigned(n) + entry.covers_x - 1) / entry.covers_x,
                   gy = (unsigned(n) + entry.covers_y - 1) / entry.covers_y;
    unsigned threads[4] = {(unsigned(n) + 31) / 32 * 32, (unsigned(n) + 7) / 8 * 8, 1, entry.count};
    for (unsigned s = 0; s < launches; ++s) {
      void* parameters[] = {&in, &out, &n, &n, threads};
      CUlaunchAttribute attribute{};
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = 1;
      CUlaunchConfig config{};
      config.gridDimX = gx, config.gridDimY = gy, config.gridDimZ = 1;
      config.blockDimX = entry.threads, config.blockDimY = config.blockDimZ = 1;
      config.attrs = &attribute;
      config.numAttrs = ahead && s > 0 ? 1 : 0;
      if (cuLaunchKernelEx(&config, entry.function, parameters, nullptr) != CUDA_SUCCESS) {
        std::fprintf(stderr, "%s cannot be launched\n", entry.name.c_str());
        return;
      }
      std::swap(in, out);
    }
  }
};

void measure(const std::string& kernel, const std::vector<Entry>& entries, int n) {
  const Plain& plain = kernels.at(kernel);
  Planes planes(n, plain.is_double);
  double best = 0;
  for (const dim3 block : {dim3(32, 8), dim3(128, 2)}) {
    planes.start();
    const double t = microseconds(5, [&] { planes.plain(plain.function, 20, block); }) / 20;
    std::printf("N %s %d %ux%u %.3f\n", kernel.c_str(), n, block.x, block.y, t);
    if (best == 0 || t < best) best = t;
  }
  for (const Entry& entry : entries) {
    if (entry.kernel != kernel) continue;
    planes.start();
    planes.plain(plain.function, 5 * entry.count, dim3(32, 8));
    CHECK(cudaMemcpy(planes.c, planes.b, planes.words * 4, cudaMemcpyDeviceToDevice));
    for (const bool ahead : {false, true}) {
      planes.start();
      planes.merged(entry, 5, ahead);
      CHECK(cudaMemset(planes.different, 0, 4));
      count_different<<<planes.blocks(), 256>>>(planes.b, planes.c, planes.words, planes.different);
      unsigned different = 0;
      CHECK(cudaMemcpy(&different, planes.different, 4, cudaMemcpyDeviceToHost));
      const unsigned launches = n >= 4096 ? 4 : 12;
      const double t =
          microseconds(5, [&] { planes.merged(entry, launches, ahead); }) / launches / entry.count;
      std::printf("%c %s %d %.3f %.3f %s\n", ahead ? 'A' : 'S', entry.name.c_str(), n, t, best / t,
                  different == 0 ? "same" : "DIFFERENT");
      std::fflush(stdout);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  CHECK(cudaFree(nullptr));
  std::vector<Entry> entries;
  std::vector<std::string> names;
  Entry entry;
  while (std::cin >> entry.name >> entry.kernel >> entry.count >> entry.threads >> entry.covers_x >>
         entry.covers_y) {
    std::ifstream in(std::string(argv[1]) + "/" + entry.name + ".cubin", std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(in), {}};
    CUmodule module = nullptr;
    if (image.empty() || cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS ||
        cuModuleGetFunction(&entry.function, module, "steps") != CUDA_SUCCESS) {
      std::fprintf(stderr, "%s: no such entry\n", entry.name.c_str());
      continue;
    }
    int registers = 0, stack = 0, shared = 0, blocks = 0;
    cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, entry.function);
    cuFuncGetAttribute(&stack, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, entry.function);
    cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, entry.function);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry.function, int(entry.threads), 0);
    std::printf("F %s regs %d local %d shared %d blocks %d threads %u\n", entry.name.c_str(),
                registers, stack, shared, blocks, entry.threads);
    entries.push_back(entry);
    if (std::find(names.begin(), names.end(), entry.kernel) == names.end())
      names.push_back(entry.kernel);
  }
  for (int n = 2; n < argc; ++n)
    for (const std::string& kernel : names)
      measure(kernel, entries, std::atoi(argv[n]));
}
