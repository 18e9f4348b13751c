// Where the launcher stands between a program and its driver.
//
// A program gets at the driver's functions in three ways, and each is covered: it links libcuda
// (the symbols exported here come first, by LD_PRELOAD), it asks dlsym (as the CUDA runtime does,
// also where it is linked statically), or it asks cuGetProcAddress, which is hooked wherever it is
// handed out. Functions that are not in the table are the driver's own.
#include "launch/hooks.hpp"

#include "launch/engine.hpp"
#include "launch/trampolines.hpp"

#include <algorithm>
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

enum : unsigned { plain, plain_thread, ex, ex_thread, address, address_2, first_forgetting };

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
  // `stream` as the program named it: the driver gets what it would have got.
  PlainLaunch(LaunchKernel* real, CUstream stream, unsigned hook)
      : real_(real), stream_(stream), hook_(hook) {}
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<PlainLaunch>(*this);
  }
  CUresult operator()(const Request& r) const override {
    return real_(r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
                 r.shared, stream_, r.parameters, r.extra);
  }
  void pass_from_now_on(const Request& r, std::uint64_t epoch) const override {
    remember_passing(epoch, hook_, pointer(real_), r);
  }

private:
  LaunchKernel* real_;
  CUstream stream_;
  unsigned hook_;
};

class ExLaunch final : public Launch {
public:
  ExLaunch(LaunchKernelEx* real, const CUlaunchConfig& config, unsigned hook)
      : real_(real), config_(config), hook_(hook) {}
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<ExLaunch>(*this);
  }
  CUresult operator()(const Request& r) const override {
    CUlaunchConfig config = config_;
    config.blockDimX = r.block[0];
    config.blockDimY = r.block[1];
    config.blockDimZ = r.block[2];
    config.gridDimX = r.grid[0];
    config.gridDimY = r.grid[1];
    config.gridDimZ = r.grid[2];
    return real_(&config, r.function, r.parameters, r.extra);
  }
  void pass_from_now_on(const Request& r, std::uint64_t epoch) const override {
    remember_passing(epoch, hook_, pointer(real_), r);
  }

private:
  LaunchKernelEx* real_;
  const CUlaunchConfig config_; // without attributes
  unsigned hook_;
};

template <bool per_thread>
[[gnu::noinline]] CUresult look_at_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                          CUstream stream, void** parameters, void** extra) {
  constexpr unsigned hook = per_thread ? plain_thread : plain;
  auto* const real = hooks[hook].function<LaunchKernel>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr)
    return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  const Request request{f,          {gx, gy, gz}, {bx, by, bz}, shared, named<per_thread>(stream),
                        parameters, extra};
  return launcher->launch(request, PlainLaunch(real, stream, hook));
}

// Nothing but two jumps where the launch is one that passes.
template <bool per_thread>
CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                       void** parameters, void** extra) {
  void* const real =
      passing(launch_key(per_thread ? plain_thread : plain, f, gx, gy, gz, bx, by, bz, shared));
  if (real != nullptr) [[likely]]
    return reinterpret_cast<LaunchKernel*>(real)(f, gx, gy, gz, bx, by, bz, shared, stream,
                                                 parameters, extra);
  return look_at_kernel<per_thread>(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

// With attributes (clusters, cooperation, programmatic launches, ...) a launch is none of ours.
template <bool per_thread>
[[gnu::noinline]] CUresult look_at_kernel_ex(const CUlaunchConfig* config, CUfunction f,
                                             void** parameters, void** extra) {
  constexpr unsigned hook = per_thread ? ex_thread : ex;
  auto* const real = hooks[hook].function<LaunchKernelEx>();
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr || config == nullptr || config->numAttrs != 0) {
    if (is_waiting()) launcher->flush();
    if (launcher != nullptr) launcher->count_with_attributes();
    return real(config, f, parameters, extra);
  }
  const Request request{f,
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->sharedMemBytes,
                        named<per_thread>(config->hStream),
                        parameters,
                        extra};
  return launcher->launch(request, ExLaunch(real, *config, hook));
}

template <bool per_thread>
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra) {
  void* real = nullptr;
  if (config != nullptr && config->numAttrs == 0)
    real = passing(launch_key(per_thread ? ex_thread : ex, f, config->gridDimX, config->gridDimY,
                              config->gridDimZ, config->blockDimX, config->blockDimY,
                              config->blockDimZ, config->sharedMemBytes));
  if (real != nullptr) [[likely]]
    return reinterpret_cast<LaunchKernelEx*>(real)(config, f, parameters, extra);
  return look_at_kernel_ex<per_thread>(config, f, parameters, extra);
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

// Where launches are put off, all other functions have them made first.
void* behind_what_waits(const char* name, void* found) {
  Engine* const launcher = engine();
  Merger* const merger = launcher == nullptr ? nullptr : launcher->merger();
  if (merger == nullptr || found == nullptr || tells_only(name) || is_ours(found)) return found;
  void* const stand_in = watched(found);
  if (stand_in != nullptr) return stand_in;
  merger->stop("there are too many functions");
  return found;
}

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
  *function = behind_what_waits(name, *function);
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

// The driver's function of this name, to be called behind what waits; null where dlsym may answer.
void* watched_symbol(void* handle, const char* name) {
  Engine* const launcher = engine();
  if (launcher == nullptr || launcher->merger() == nullptr || name[2] < 'A' || name[2] > 'Z')
    return nullptr;
  const bool by_default = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
  void* const found = by_default ? driver_symbol(name) : real_dlsym(handle, name);
  Dl_info its{};
  if (found == nullptr || is_ours(found) || ::dladdr(found, &its) == 0) return nullptr;
  const std::string_view file(its.dli_fname);
  if (!file.substr(file.rfind('/') + 1).starts_with("libcuda.so")) return nullptr;
  return behind_what_waits(name, found);
}

void put_nothing_off(const char* why) {
  Engine* const launcher = engine();
  if (launcher != nullptr && launcher->merger() != nullptr) launcher->merger()->stop(why);
}

[[gnu::destructor]] void at_exit() {
  if (Engine* const launcher = engine()) launcher->write_report();
}

} // namespace

bool is_exported(const char* name) {
  constexpr std::array<std::string_view, 9> all{
      "cuLaunchKernel",        "cuLaunchKernel_ptsz", "cuLaunchKernelEx",
      "cuLaunchKernelEx_ptsz", "cuGetProcAddress",    "cuGetProcAddress_v2",
      "cuModuleUnload",        "cuLibraryUnload",     "cuCtxDestroy_v2"};
  return std::ranges::find(all, name) != all.end();
}

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
  return ptxasw::launch::watched_symbol(handle, name);
}

// Loads files, which may call the driver without our seeing it: what waits is made first. Those in
// a namespace of their own nobody can go through.
[[gnu::visibility("hidden")]] void* ptxasw_real_loader(const char* name) {
  if (ptxasw::launch::is_waiting()) ptxasw::launch::engine()->flush();
  if (std::strcmp(name, "dlmopen") == 0) ptxasw::launch::put_nothing_off("dlmopen was called");
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.3.4"})
    if (found == nullptr) found = ::dlvsym(RTLD_NEXT, name, version);
  return found;
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

// As above; the C library has to see who called (RUNPATH).
asm(R"(
  .section .rodata
ptxasw_dlopen: .string "dlopen"
ptxasw_dlmopen: .string "dlmopen"
  .text
  .macro ptxasw_loads name
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  push %rdi
  push %rsi
  push %rdx
  .cfi_adjust_cfa_offset 24
  leaq ptxasw_\name(%rip), %rdi
  call ptxasw_real_loader
  pop %rdx
  pop %rsi
  pop %rdi
  .cfi_adjust_cfa_offset -24
  jmp *%rax
  .cfi_endproc
  .size \name, .-\name
  .endm
  ptxasw_loads dlopen
  ptxasw_loads dlmopen
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
