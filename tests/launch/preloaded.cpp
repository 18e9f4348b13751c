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

int main(int count, char** words) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::printf("no driver\n");
    return 0;
  }
  using namespace ptxasw::contract;
  fake::Driver& gpu = *reinterpret_cast<fake::Driver* (*)()>(::dlsym(library, "fake_driver"))();
  fake::Module& module = gpu.add_module();
  fake::Function& kernel = gpu.add(module, "k", {4});
  gpu.add(module, "k__ptxasw_x4", {4, 12});
  const Contract contract{.kernel = "k",
                          .code = 1,
                          .parameters = 1,
                          .parameter_bytes = 4,
                          .variants = {{.entry = "k", .name = "original"},
                                       {.entry = "k__ptxasw_x4",
                                        .name = "x:4",
                                        .kind = Kind::coarsened,
                                        .divide = {4, 1, 1},
                                        .takes_grid = true,
                                        .gains = {{64, {1, 1, 2, 2, 2, 2, 2, 2, 2}}}}}};
  module.globals[symbol_of("k")] = encode(contract);

  using Get = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  reinterpret_cast<Get>(::dlsym(library, "cuGetProcAddress_v2"))("cuLaunchKernel", &found, 13000, 0,
                                                                 &status);
  const auto launch =
      reinterpret_cast<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, CUstream, void**, void**)>(found);
  int n = 0;
  void* parameters[] = {&n};
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
