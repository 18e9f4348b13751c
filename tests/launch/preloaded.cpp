// A program that knows nothing of the launcher. It gets at its driver as the CUDA runtime does
// where it is linked statically: dlopen, dlsym, cuGetProcAddress. It prints which entry its launch
// ran.
#include "contract/contract.hpp"
#include "fake/fake.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace {

using namespace ptxasw::contract;
using Get = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
using LaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**);
using ManyArguments = CUresult (*)(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   double, double, unsigned);

// Launches that may become fewer, and a call behind them; prints what ran by then.
void run_steps(fake::Driver& gpu, LaunchKernel launch, Get get) {
  fake::Module& module = gpu.add_module();
  fake::Function& kernel = gpu.add(module, "s", {8, 8});
  gpu.add(module, "s3", {8, 8, 12});
  const Contract contract{.kernel = "s",
                          .parameters = 2,
                          .parameter_bytes = 16,
                          .places = {{0, 8}, {8, 8}},
                          .variants = {{.entry = "s", .name = "original"}},
                          .steps = {{.entry = "s3",
                                     .count = 3,
                                     .swaps = {{0, 1}},
                                     .block = {32, 1, 1},
                                     .covers = {32, 1, 1}}}};
  module.globals[symbol_of("s")] = encode(contract);
  void *many = nullptr, *wait = nullptr;
  CUdriverProcAddressQueryResult status{};
  get("cuWithManyArguments", &many, 13000, 0, &status);
  get("cuStreamSynchronize", &wait, 13000, 0, &status);
  std::uint64_t in = 8, out = 16;
  void* parameters[] = {&in, &out};
  const auto steps = [&] {
    gpu.launches.clear();
    for (unsigned n = 0; n < 5; ++n) {
      launch(reinterpret_cast<CUfunction>(&kernel), 4, 1, 1, 64, 1, 1, 0, nullptr, parameters,
             nullptr);
      std::swap(in, out);
    }
  };
  for (unsigned n = 0; n < 3; ++n)
    steps();
  // Entries are loaded on another thread meanwhile.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  steps(); // the sixteenth that follows is put off
  steps();
  std::printf("%zu,", gpu.launches.size());
  std::printf("%u", reinterpret_cast<ManyArguments>(many)(1, 20, 300, 4, 5, 6, 0.5, 3, 7));
  for (const auto& one : gpu.launches)
    std::printf(" %s", one.entry.c_str());
  steps();
  reinterpret_cast<CUresult (*)(CUstream)>(wait)(nullptr);
  std::printf(" and %zu", gpu.launches.size());
  steps();
  ::dlopen("libm.so.6", RTLD_NOW);
  std::printf(" and %zu\n", gpu.launches.size());
}

} // namespace

int main(int count, char** words) {
  // A runtime that is asked for before the driver is loaded, as Numba does.
  if (::dlsym(RTLD_DEFAULT, "cudaMalloc") != nullptr) return 1;
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::printf("no driver\n");
    return 0;
  }
  fake::Driver& gpu = *reinterpret_cast<fake::Driver* (*)()>(::dlsym(library, "fake_driver"))();
  gpu.capabilities = {80}; // nothing was measured on such a chip
  fake::Module& module = gpu.add_module();
  fake::Function& kernel = gpu.add(module, "k", {4});
  gpu.add(module, "k__ptxasw_x4", {4, 12});
  const Contract contract{.kernel = "k",
                          .code = 1,
                          .parameters = 1,
                          .parameter_bytes = 4,
                          .variants = {{.entry = "k", .name = "original", .waits = true},
                                       {.entry = "k__ptxasw_x4",
                                        .name = "x:4",
                                        .kind = Kind::coarsened,
                                        .divide = {4, 1, 1},
                                        .rest = Rest::hangs_over,
                                        .gains = {{64, {1, 1, 2, 2, 2, 2, 2, 2, 2}}},
                                        .waits = true}}};
  module.globals[symbol_of("k")] = encode(contract);

  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  const auto get = reinterpret_cast<Get>(::dlsym(library, "cuGetProcAddress_v2"));
  get("cuLaunchKernel", &found, 13000, 0, &status);
  const auto launch = reinterpret_cast<LaunchKernel>(found);
  if (count > 1 && std::strcmp(words[1], "steps") == 0) {
    run_steps(gpu, launch, get);
    return 0;
  }
  int n = 0;
  void* parameters[] = {&n};
  if (count > 1 && std::strcmp(words[1], "early") == 0) { // launches that begin early, and a call
    const auto stream = reinterpret_cast<CUstream>(0x80);
    void* wait = nullptr;
    get("cuStreamSynchronize", &wait, 13000, 0, &status);
    for (unsigned k = 0; k < 6; ++k) {
      launch(reinterpret_cast<CUfunction>(&kernel), 999, 1, 1, 64, 1, 1, 0, stream, parameters,
             nullptr);
      if (k == 2) reinterpret_cast<CUresult (*)(CUstream)>(wait)(stream);
    }
    for (const auto& one : gpu.launches)
      std::printf("%c", one.ahead ? 'E' : '-');
    std::printf("\n");
    return 0;
  }
  const auto run = [&](unsigned blocks) {
    return launch(reinterpret_cast<CUfunction>(&kernel), blocks, 1, 1, 64, 1, 1, 0, nullptr,
                  parameters, nullptr);
  };
  const CUresult result = run(999);
  std::printf("%s %u\n", gpu.launches.at(0).entry.c_str(), result);
  if (count < 2 || std::strcmp(words[1], "rate") != 0) return 0;
  // What a launch costs beside the driver's own work; the fake's is short. Nanoseconds.
  const unsigned blocks = static_cast<unsigned>(std::atoi(words[2])), many = 200000;
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < many; ++i) {
    run(blocks);
    gpu.launches.clear();
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  std::printf("%.0f ns a launch\n", took.count() / many);
  return 0;
}
