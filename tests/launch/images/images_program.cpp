// A program that knows nothing of the launcher and has an image, which it loads as the CUDA runtime
// does: a library, from a wrapper, by what cuGetProcAddress hands out. It prints which machine code
// the driver got, how many kernels it sees, and which entry its launch ran. With WAITS it goes on
// to launch until that is another one.
#include "contract/contract.hpp"
#include "fake/fake.hpp"
#include "fat.hpp"

#include <dlfcn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using namespace ptxasw::contract;
using namespace ptxasw::launch::test;
using Get = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

void fill(fake::Driver& gpu, fake::Module& module, bool has_versions) {
  gpu.add(module, "k", {4});
  if (!has_versions) return;
  gpu.add(module, "k__ptxasw_x4", {4, 12});
  module.globals[symbol_of("k")] =
      encode({.kernel = "k",
              .code = 1,
              .parameters = 1,
              .parameter_bytes = 4,
              .variants = {{.entry = "k", .name = "original"},
                           {.entry = "k__ptxasw_x4",
                            .name = "x:4",
                            .kind = Kind::coarsened,
                            .divide = {4, 1, 1},
                            .rest = Rest::hangs_over,
                            .gains = {{64, {1, 1, 2, 2, 2, 2, 2, 2, 2}}}}}});
}

template <class Function> Function* asked(Get get, const char* name) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  get(name, &found, 13000, 0, &status);
  return reinterpret_cast<Function*>(found);
}

} // namespace

int main() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return 3;
  fake::Driver& gpu = *reinterpret_cast<fake::Driver* (*)()>(::dlsym(library, "fake_driver"))();
  gpu.contents["own"] = [](fake::Driver& g, fake::Module& m) { fill(g, m, false); };
  if (std::getenv("REFUSES") == nullptr)
    gpu.contents["prepared"] = [](fake::Driver& g, fake::Module& m) { fill(g, m, true); };

  const std::string image = usual_image("own");
  Wrapper wrapper;
  wrapper.data = image.data();
  const auto get = reinterpret_cast<Get>(::dlsym(library, "cuGetProcAddress_v2"));
  CUlibrary loaded = nullptr;
  asked<decltype(cuLibraryLoadData)>(get, "cuLibraryLoadData")(&loaded, &wrapper, nullptr, nullptr,
                                                               0, nullptr, nullptr, 0);
  unsigned count = 0;
  asked<decltype(cuLibraryGetKernelCount)>(get, "cuLibraryGetKernelCount")(&count, loaded);
  CUkernel kernel = nullptr;
  asked<decltype(cuLibraryGetKernel)>(get, "cuLibraryGetKernel")(&kernel, loaded, "k");
  int n = 0;
  void* parameters[] = {&n};
  const auto launch = [&, real = asked<decltype(cuLaunchKernel)>(get, "cuLaunchKernel")] {
    real(reinterpret_cast<CUfunction>(kernel), 999, 1, 1, 64, 1, 1, 0, nullptr, parameters,
         nullptr);
  };
  launch();
  // Whoever prepares the image is no child of ours.
  const bool has_child = ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
  std::printf("%s %u %s%s", gpu.loaded.back().c_str(), count, gpu.launches.at(0).entry.c_str(),
              has_child ? " and a child" : "");
  if (std::getenv("WAITS") != nullptr) {
    auto* const wait = asked<decltype(cuCtxSynchronize_v2)>(get, "cuCtxSynchronize");
    for (int tries = 0; tries < 3000 && gpu.launches.back().entry == gpu.launches[0].entry;
         ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      wait(reinterpret_cast<CUcontext>(1));
      launch();
    }
    asked<decltype(cuLibraryGetKernelCount)>(get, "cuLibraryGetKernelCount")(&count, loaded);
    std::printf(", then %u %s", count, gpu.launches.back().entry.c_str());
  }
  std::puts("");
}
