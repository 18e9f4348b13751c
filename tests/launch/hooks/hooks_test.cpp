// The ways in which programs get at the driver's functions all lead through us. This program has
// the launcher's symbols itself, as a preloaded library would.
#include "program.hpp"

#include <gmock/gmock.h>

#undef cuGetProcAddress
#undef cuModuleUnload

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::launched;
using test::Program;

using LaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**);
using LaunchKernelEx = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);

void* symbol(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  return ::dlsym(library, name);
}

// Big enough for the model to choose x:4.
void expect_variant(LaunchKernel launch, const std::string& by) {
  Program p;
  EXPECT_EQ(launch(p.function(), 50, 1, 1, 100, 1, 1, 0, nullptr, p.parameters, nullptr),
            CUDA_SUCCESS);
  const auto all = launched();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].entry, "k__ptxasw_x4");
  EXPECT_EQ(all[0].by, by);
  reinterpret_cast<CUresult (*)(CUmodule)>(symbol("cuModuleUnload"))(
      reinterpret_cast<CUmodule>(&p.module));
}

TEST(Hooks, DirectSymbols) {
  gpu();
  expect_variant(cuLaunchKernel, "cuLaunchKernel");
}

TEST(Hooks, Dlsym) {
  gpu();
  expect_variant(reinterpret_cast<LaunchKernel>(symbol("cuLaunchKernel")), "cuLaunchKernel");
  expect_variant(reinterpret_cast<LaunchKernel>(symbol("cuLaunchKernel_ptsz")),
                 "cuLaunchKernel_ptsz");
  EXPECT_EQ(symbol("cuNoSuchFunction"), nullptr);
  EXPECT_NE(symbol("cuLaunchCooperativeKernel"), nullptr);
}

TEST(Hooks, DlsymStillSeesItsCaller) {
  gpu();
  EXPECT_NE(::dlsym(RTLD_DEFAULT, "strlen"), nullptr);
  EXPECT_NE(::dlsym(RTLD_NEXT, "dlsym"), reinterpret_cast<void*>(&::dlsym));
  EXPECT_NE(::dlsym(RTLD_NEXT, "cuLaunchKernel"), nullptr);
}

TEST(Hooks, BothVersionsOfGetProcAddress) {
  gpu();
  using Get = CUresult (*)(const char*, void**, int, cuuint64_t);
  using Get2 = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  const auto get = reinterpret_cast<Get>(symbol("cuGetProcAddress"));
  const auto get2 = reinterpret_cast<Get2>(symbol("cuGetProcAddress_v2"));
  for (const bool per_thread : {false, true}) {
    const cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const std::string by = per_thread ? "cuLaunchKernel_ptsz" : "cuLaunchKernel";
    void* found = nullptr;
    ASSERT_EQ(get("cuLaunchKernel", &found, 11030, flags), CUDA_SUCCESS);
    expect_variant(reinterpret_cast<LaunchKernel>(found), by);
    CUdriverProcAddressQueryResult status{};
    ASSERT_EQ(get2("cuLaunchKernel", &found, 13000, flags, &status), CUDA_SUCCESS);
    expect_variant(reinterpret_cast<LaunchKernel>(found), by);
    // Handed out once more by itself.
    ASSERT_EQ(get2("cuGetProcAddress", &found, 12000, flags, nullptr), CUDA_SUCCESS);
    void* again = nullptr;
    ASSERT_EQ(reinterpret_cast<Get2>(found)("cuLaunchKernel", &again, 13000, flags, nullptr),
              CUDA_SUCCESS);
    expect_variant(reinterpret_cast<LaunchKernel>(again), by);
    ASSERT_EQ(get("cuGetProcAddress", &found, 11030, flags), CUDA_SUCCESS);
    ASSERT_EQ(reinterpret_cast<Get>(found)("cuLaunchKernel", &again, 11030, flags), CUDA_SUCCESS);
    expect_variant(reinterpret_cast<LaunchKernel>(again), by);
  }
  void* found = nullptr;
  EXPECT_EQ(get("cuNoSuchFunction", &found, 13000, 0), CUDA_ERROR_NOT_FOUND);
}

TEST(Hooks, ConfiguredLaunches) {
  gpu();
  for (const bool per_thread : {false, true}) {
    const auto launch = reinterpret_cast<LaunchKernelEx>(
        symbol(per_thread ? "cuLaunchKernelEx_ptsz" : "cuLaunchKernelEx"));
    Program p;
    CUlaunchConfig config{};
    config.gridDimX = 50;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 100;
    EXPECT_EQ(launch(&config, p.function(), p.parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
    // With attributes it is none of ours.
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT_EQ(launch(&config, p.function(), p.parameters, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(launched()[0].entry, "k");
    cuModuleUnload(reinterpret_cast<CUmodule>(&p.module));
  }
}

TEST(Hooks, CooperativeLaunchesAreNotOurs) {
  gpu();
  Program p;
  const auto launch =
      reinterpret_cast<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, CUstream, void**)>(
          symbol("cuLaunchCooperativeKernel"));
  launch(p.function(), 50, 1, 1, 100, 1, 1, 0, nullptr, p.parameters);
  EXPECT_EQ(launched()[0].entry, "k");
  cuModuleUnload(reinterpret_cast<CUmodule>(&p.module));
}

// Another module at the address of one that was unloaded is another module.
TEST(Hooks, UnloadedModulesAreForgotten) {
  gpu();
  const unsigned before = gpu().calls["cuModuleUnload"];
  {
    Program p;
    cuLaunchKernel(p.function(), 50, 1, 1, 100, 1, 1, 0, nullptr, p.parameters, nullptr);
    EXPECT_EQ(launched()[0].entry, "k__ptxasw_x4");
    p.module.globals.clear();
    void* unload = nullptr;
    reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t)>(
        symbol("cuGetProcAddress"))("cuModuleUnload", &unload, 13000, 0);
    reinterpret_cast<CUresult (*)(CUmodule)>(unload)(nullptr);
    cuLaunchKernel(p.function(), 50, 1, 1, 100, 1, 1, 0, nullptr, p.parameters, nullptr);
    EXPECT_EQ(launched()[0].entry, "k");
  }
  EXPECT_EQ(gpu().calls["cuModuleUnload"], before + 1);
}

} // namespace
} // namespace ptxasw::launch
