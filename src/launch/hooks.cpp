// Where the launcher stands between a program and its driver.
//
// A program gets at the driver's functions in three ways, and each is covered: it links libcuda
// (the symbols exported here come first, by LD_PRELOAD), it asks dlsym (as the CUDA runtime does,
// also where it is linked statically), or it asks cuGetProcAddress, which is hooked wherever it is
// handed out. Functions that are not in the table are the driver's own.
#include "launch/engine.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

// cuda.h lets some names stand for others; here each is what it says.
#undef cuGetProcAddress
#undef cuLaunchKernel
#undef cuLaunchKernelEx

namespace ptxasw::launch {
namespace {

using LaunchKernel = CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, CUstream, void**, void**);
using LaunchKernelEx = CUresult(const CUlaunchConfig*, CUfunction, void**, void**);
using GetProcAddress = CUresult(const char*, void**, int, cuuint64_t);
using GetProcAddress2 = CUresult(const char*, void**, int, cuuint64_t,
                                 CUdriverProcAddressQueryResult*);

// One function of the driver that programs get from us.
struct Hook {
  const char* symbol;      // as the driver exports it
  const char* name;        // as cuGetProcAddress is asked for it
  bool per_thread = false; // the default stream is the thread's
  void* ours = nullptr;
  std::atomic<void*> real{nullptr};

  template <class Function> Function* function() {
    void* found = real.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = driver_symbol(symbol);
      real.store(found, std::memory_order_release);
    }
    return reinterpret_cast<Function*>(found);
  }
};

template <bool per_thread>
CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                       void** parameters, void** extra);
template <bool per_thread>
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra);
CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags);
CUresult get_proc_address_2(const char* name, void** function, int version, cuuint64_t flags,
                            CUdriverProcAddressQueryResult* status);
template <std::size_t index> CUresult forget_and_call(void* handle);

enum : std::size_t { plain, plain_thread, ex, ex_thread, address, address_2, first_forgetting };

template <class Function> void* pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}

std::array<Hook, first_forgetting + 7> hooks{{
    {"cuLaunchKernel", "cuLaunchKernel", false, pointer(launch_kernel<false>)},
    {"cuLaunchKernel_ptsz", "cuLaunchKernel", true, pointer(launch_kernel<true>)},
    {"cuLaunchKernelEx", "cuLaunchKernelEx", false, pointer(launch_kernel_ex<false>)},
    {"cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", true, pointer(launch_kernel_ex<true>)},
    {"cuGetProcAddress", "", false, pointer(get_proc_address)},
    {"cuGetProcAddress_v2", "", false, pointer(get_proc_address_2)},
    // After these a handle may stand for another kernel. Each takes one argument.
    {"cuModuleUnload", "cuModuleUnload", false, pointer(forget_and_call<first_forgetting>)},
    {"cuLibraryUnload", "cuLibraryUnload", false, pointer(forget_and_call<first_forgetting + 1>)},
    {"cuCtxDestroy_v2", "cuCtxDestroy", false, pointer(forget_and_call<first_forgetting + 2>)},
    {"cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", false,
     pointer(forget_and_call<first_forgetting + 3>)},
    {"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", false,
     pointer(forget_and_call<first_forgetting + 4>)},
    {"cuDevicePrimaryCtxReset", "", false, pointer(forget_and_call<first_forgetting + 5>)},
    {"cuDevicePrimaryCtxRelease", "", false, pointer(forget_and_call<first_forgetting + 6>)},
}};

// --- Launches ------------------------------------------------------------------------------------

// The legacy and the per-thread default stream have no handle of their own but these.
template <bool per_thread> CUstream named(CUstream stream) {
  if (stream != nullptr) return stream;
  return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

class PlainLaunch final : public Launch {
public:
  explicit PlainLaunch(LaunchKernel* real) : real_(real) {}
  CUresult operator()(const Request& r) const override {
    return real_(r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
                 r.shared, r.stream, r.parameters, r.extra);
  }

private:
  LaunchKernel* real_;
};

class ExLaunch final : public Launch {
public:
  ExLaunch(LaunchKernelEx* real, const CUlaunchConfig& config) : real_(real), config_(config) {}
  CUresult operator()(const Request& r) const override {
    CUlaunchConfig config = config_;
    config.gridDimX = r.grid[0];
    config.gridDimY = r.grid[1];
    config.gridDimZ = r.grid[2];
    return real_(&config, r.function, r.parameters, r.extra);
  }

private:
  LaunchKernelEx* real_;
  const CUlaunchConfig& config_;
};

template <bool per_thread>
CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                       void** parameters, void** extra) {
  auto* const real = hooks[per_thread ? plain_thread : plain].function<LaunchKernel>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr)
    return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  const Request request{f,          {gx, gy, gz}, {bx, by, bz}, shared, named<per_thread>(stream),
                        parameters, extra};
  return launcher->launch(request, PlainLaunch(real));
}

// With attributes (clusters, cooperation, programmatic launches, ...) a launch is none of ours.
template <bool per_thread>
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra) {
  auto* const real = hooks[per_thread ? ex_thread : ex].function<LaunchKernelEx>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr || config == nullptr || config->numAttrs != 0)
    return real(config, f, parameters, extra);
  const Request request{f,
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->sharedMemBytes,
                        named<per_thread>(config->hStream),
                        parameters,
                        extra};
  return launcher->launch(request, ExLaunch(real, *config));
}

template <std::size_t index> CUresult forget_and_call(void* handle) {
  auto* const real = hooks[index].function<CUresult(void*)>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (Engine* const launcher = engine()) launcher->forget_handles();
  return real(handle);
}

// Ours come before those of a driver that refers to its functions by name.
bool is_ours(const void* function) {
  Dl_info its{}, here{};
  return ::dladdr(function, &its) != 0 && ::dladdr(hooks.data(), &here) != 0 &&
         its.dli_fbase == here.dli_fbase;
}

// What stands in the place of the driver's function `found`.
void* instead_of(Hook& hook, void* found) {
  if (is_ours(found)) found = driver_symbol(hook.symbol);
  if (found != nullptr) hook.real.store(found, std::memory_order_release);
  return hook.ours;
}

// --- Handing out functions -----------------------------------------------------------------------

void replace(const char* name, void** function, cuuint64_t flags) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  for (Hook& hook : hooks) {
    const bool fits_both = &hook >= &hooks[first_forgetting];
    if (std::strcmp(hook.name, name) != 0 || (hook.per_thread != per_thread && !fits_both))
      continue;
    *function = instead_of(hook, *function);
    return;
  }
}

// Which of the two a program gets by this name hangs on the version that it asks for.
void replace_own(const char* name, void** function, int version) {
  if (name == nullptr || function == nullptr || *function == nullptr ||
      std::strcmp(name, "cuGetProcAddress") != 0)
    return;
  constexpr int with_status = 12000;
  Hook& hook = hooks[version >= with_status ? address_2 : address];
  *function = instead_of(hook, *function);
}

CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags) {
  auto* const real = hooks[address].function<GetProcAddress>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(name, function, version, flags);
  if (result != CUDA_SUCCESS) return result;
  replace(name, function, flags);
  replace_own(name, function, version);
  return result;
}

CUresult get_proc_address_2(const char* name, void** function, int version, cuuint64_t flags,
                            CUdriverProcAddressQueryResult* status) {
  auto* const real = hooks[address_2].function<GetProcAddress2>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(name, function, version, flags, status);
  if (result != CUDA_SUCCESS) return result;
  replace(name, function, flags);
  replace_own(name, function, version);
  return result;
}

[[gnu::destructor]] void at_exit() {
  if (Engine* const launcher = engine()) launcher->write_report();
}

} // namespace

const Driver& driver() {
  static const Driver found;
  return found;
}

void* driver_symbol(const char* name) {
  static std::atomic<void*> library{nullptr};
  void* found = library.load(std::memory_order_acquire);
  if (found == nullptr) { // loaded by the program, never by us
    found = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    library.store(found, std::memory_order_release);
  }
  return found == nullptr ? nullptr : real_dlsym(found, name);
}

} // namespace ptxasw::launch

using ptxasw::launch::hooks;

extern "C" {

using Dlsym = void* (*)(void*, const char*);
[[gnu::visibility("hidden")]] std::atomic<Dlsym> ptxasw_real_dlsym{nullptr};

// What dlsym has to answer instead of what it would, or null.
[[gnu::visibility("hidden")]] void* ptxasw_hooked_symbol(void* handle, const char* name) {
  const Dlsym real = reinterpret_cast<Dlsym>(ptxasw::launch::real_dlsym(nullptr, nullptr));
  if (name == nullptr || std::strncmp(name, "cu", 2) != 0) return nullptr;
  for (ptxasw::launch::Hook& hook : hooks) {
    if (std::strcmp(hook.symbol, name) != 0) continue;
    void* const found = handle == RTLD_DEFAULT || handle == RTLD_NEXT
                            ? ptxasw::launch::driver_symbol(name)
                            : real(handle, name);
    if (found == nullptr) return nullptr;
    return ptxasw::launch::instead_of(hook, found);
  }
  return nullptr;
}

// A jump where the answer is the C library's: it has to see who called (RTLD_NEXT).
asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call ptxasw_hooked_symbol
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  test %rax, %rax
  jne 1f
  jmp *ptxasw_real_dlsym(%rip)
1:
  ret
  .cfi_endproc
  .size dlsym, .-dlsym
)");

#define PTXASW_EXPORT [[gnu::visibility("default")]]

PTXASW_EXPORT CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                              unsigned bx, unsigned by, unsigned bz,
                                              unsigned shared, CUstream stream, void** parameters,
                                              void** extra) {
  return ptxasw::launch::launch_kernel<false>(f, gx, gy, gz, bx, by, bz, shared, stream, parameters,
                                              extra);
}
PTXASW_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                           unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                           CUstream stream, void** parameters, void** extra) {
  return ptxasw::launch::launch_kernel<true>(f, gx, gy, gz, bx, by, bz, shared, stream, parameters,
                                             extra);
}
PTXASW_EXPORT CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f,
                                                void** parameters, void** extra) {
  return ptxasw::launch::launch_kernel_ex<false>(config, f, parameters, extra);
}
PTXASW_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f,
                                             void** parameters, void** extra) {
  return ptxasw::launch::launch_kernel_ex<true>(config, f, parameters, extra);
}
PTXASW_EXPORT CUresult cuGetProcAddress(const char* name, void** function, int version,
                                        cuuint64_t flags) {
  return ptxasw::launch::get_proc_address(name, function, version, flags);
}
PTXASW_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char* name, void** function, int version,
                                                   cuuint64_t flags,
                                                   CUdriverProcAddressQueryResult* status) {
  return ptxasw::launch::get_proc_address_2(name, function, version, flags, status);
}
PTXASW_EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  return ptxasw::launch::forget_and_call<ptxasw::launch::first_forgetting>(module);
}
PTXASW_EXPORT CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
  return ptxasw::launch::forget_and_call<ptxasw::launch::first_forgetting + 1>(library);
}
PTXASW_EXPORT CUresult CUDAAPI cuCtxDestroy_v2(CUcontext context) {
  return ptxasw::launch::forget_and_call<ptxasw::launch::first_forgetting + 2>(context);
}

} // extern "C"

namespace ptxasw::launch {

void* real_dlsym(void* handle, const char* name) {
  Dlsym real = ptxasw_real_dlsym.load(std::memory_order_acquire);
  if (real == nullptr) {
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"})
      if (real == nullptr) real = reinterpret_cast<Dlsym>(::dlvsym(RTLD_NEXT, "dlsym", version));
    ptxasw_real_dlsym.store(real, std::memory_order_release);
  }
  return name == nullptr ? reinterpret_cast<void*>(real) : real(handle, name);
}

} // namespace ptxasw::launch
