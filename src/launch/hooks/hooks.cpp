// Where the launcher stands between a program and its driver.
//
// A program gets at the driver's functions in three ways, and each is covered: it links libcuda
// (the symbols exported here come first, by LD_PRELOAD), it asks dlsym (as the CUDA runtime does,
// also where it is linked statically), or it asks cuGetProcAddress, which is hooked wherever it is
// handed out. Functions that are not in the table are the driver's own.
//
// What is behind a function of ours is what the program would have got in the same way, be it the
// driver's or another library's that stands between, too. So each function that is found has a copy
// of ours to itself: with one for all, a library that we call would call itself through us.
#include "launch/driver/hook_table.hpp"
#include "launch/engine/engine.hpp"
#include "launch/hooks/call_hooks.hpp"
#include "launch/hooks/link_hooks.hpp"
#include "launch/hooks/module_hooks.hpp"
#include "launch/hooks/sharing_hooks.hpp"
#include "launch/kernels/passing_variant.hpp"
#include "launch/waiting/trampolines.hpp"

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

void* ours_of(unsigned hook, unsigned copy);

// One of libcuda itself.
bool is_drivers(void* found) {
  Dl_info its{};
  if (found == nullptr || ::dladdr(found, &its) == 0) return false;
  const std::string_view file(its.dli_fname);
  return file.substr(file.rfind('/') + 1).starts_with("libcuda.so");
}

// --- Launches ------------------------------------------------------------------------------------

// Whether a copy of a hook has the driver behind it, and no other library. Asked once.
bool leads_to_driver(unsigned number) {
  enum : unsigned char { unknown, no, yes };
  static std::array<std::atomic<unsigned char>, hooks.size() * copies> known{};
  unsigned char found = known[number].load(std::memory_order_relaxed);
  if (found == unknown) {
    found = is_drivers(reals[number / copies][number % copies].load()) ? yes : no;
    known[number].store(found, std::memory_order_relaxed);
  }
  return found == yes;
}

// By a copy of a hook, which remembers what passes.
template <class Function> class HookedLaunch : public Launch {
public:
  HookedLaunch(Function* real, unsigned hook) : real_(real), hook_(hook) {}
  void pass_from_now_on(const Request& r, std::uint64_t epoch, std::uint64_t times) const override {
    remember_passing(epoch, hook_, pointer(real_), r, times);
  }
  void pass_by_variant_from_now_on(const Request& r, std::uint64_t epoch, const VariantLaunch& made,
                                   CUcontext context, std::uint64_t times) const override {
    remember_variant(epoch, hook_, r, made, context, times);
  }
  [[nodiscard]] std::uint64_t passed(const Request& r) const override {
    return take_passed(hook_, r) + take_passed_by_variant(hook_, r);
  }
  // As remembered, or as is decided now.
  [[nodiscard]] CUresult made_by(Engine& launcher, const Request& r) const {
    const auto passed = is_waiting() ? std::nullopt : pass_by_variant(hook_, r, *this);
    return passed ? *passed : launcher.launch(r, *this);
  }

protected:
  Function* real_;
  unsigned hook_;
};

class PlainLaunch final : public HookedLaunch<LaunchKernel> {
public:
  // `stream` as the program named it: the driver gets what it would have got.
  PlainLaunch(LaunchKernel* real, CUstream stream, unsigned hook)
      : HookedLaunch(real, hook), stream_(stream) {}
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<PlainLaunch>(*this);
  }
  CUresult operator()(const Request& r) const override {
    return real_(r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
                 r.shared, stream_, r.parameters, r.extra);
  }
  CUresult ahead(const Request& r) const override {
    return leads_to_driver(hook_) ? launch_ahead(r) : CUDA_ERROR_NOT_SUPPORTED;
  }

private:
  CUstream stream_;
};

class ExLaunch final : public HookedLaunch<LaunchKernelEx> {
public:
  ExLaunch(LaunchKernelEx* real, const CUlaunchConfig& config, unsigned hook)
      : HookedLaunch(real, hook), config_(config) {}
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<ExLaunch>(*this);
  }
  CUresult operator()(const Request& r) const override { return launch(r, 0); }
  CUresult ahead(const Request& r) const override { return launch(r, 1); }

private:
  [[nodiscard]] CUresult launch(const Request& r, unsigned attributes) const {
    CUlaunchAttribute early{};
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = config_;
    config.attrs = &early;
    config.numAttrs = attributes;
    config.blockDimX = r.block[0];
    config.blockDimY = r.block[1];
    config.blockDimZ = r.block[2];
    config.gridDimX = r.grid[0];
    config.gridDimY = r.grid[1];
    config.gridDimZ = r.grid[2];
    return real_(&config, r.function, r.parameters, r.extra);
  }
  const CUlaunchConfig config_; // without attributes
};

template <unsigned hook, unsigned copy>
[[gnu::noinline]] CUresult look_at_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                          CUstream stream, void** parameters, void** extra) {
  auto* const real = real_of<LaunchKernel>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr)
    return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  const Request request{
      f,          {gx, gy, gz}, {bx, by, bz}, shared, named<hooks[hook].per_thread>(stream),
      parameters, extra};
  return PlainLaunch(real, stream, hook * copies + copy).made_by(*launcher, request);
}

// The driver's function, for a launch that passes; null where it has to be looked at, as each that
// comes behind what waits has to be.
void* passing_now(const LaunchKey& key) {
  return is_waiting() ? nullptr : passing(key);
}

// Nothing but two jumps where the launch is one that passes.
template <unsigned hook, unsigned copy>
CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                       void** parameters, void** extra) {
  void* const real =
      passing_now(launch_key(hook * copies + copy, f, gx, gy, gz, bx, by, bz, shared));
  if (real != nullptr) [[likely]]
    return reinterpret_cast<LaunchKernel*>(real)(f, gx, gy, gz, bx, by, bz, shared, stream,
                                                 parameters, extra);
  return look_at_kernel<hook, copy>(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

bool is_cooperative(const CUlaunchConfig& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const auto& attribute) {
    return attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0;
  });
}

// With attributes (clusters, cooperation, programmatic launches, ...) a launch is none of ours.
template <unsigned hook, unsigned copy>
[[gnu::noinline]] CUresult look_at_kernel_ex(const CUlaunchConfig* config, CUfunction f,
                                             void** parameters, void** extra) {
  auto* const real = real_of<LaunchKernelEx>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr || config == nullptr || config->numAttrs != 0) {
    if (is_waiting()) launcher->flush();
    if (launcher != nullptr && config != nullptr && is_cooperative(*config))
      launcher->count_cooperative(f);
    if (launcher != nullptr) launcher->count_with_attributes();
    return real(config, f, parameters, extra);
  }
  const Request request{f,
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->sharedMemBytes,
                        named<hooks[hook].per_thread>(config->hStream),
                        parameters,
                        extra};
  return ExLaunch(real, *config, hook * copies + copy).made_by(*launcher, request);
}

template <unsigned hook, unsigned copy>
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra) {
  void* real = nullptr;
  if (config != nullptr && config->numAttrs == 0)
    real = passing_now(launch_key(hook * copies + copy, f, config->gridDimX, config->gridDimY,
                                  config->gridDimZ, config->blockDimX, config->blockDimY,
                                  config->blockDimZ, config->sharedMemBytes));
  if (real != nullptr) [[likely]]
    return reinterpret_cast<LaunchKernelEx*>(real)(config, f, parameters, extra);
  return look_at_kernel_ex<hook, copy>(config, f, parameters, extra);
}

void lose_sight(const char* why) {
  if (Engine* const launcher = engine()) launcher->lose_sight(why);
}

// Ours come before those of a driver that refers to its functions by name.
bool is_ours(const void* function) {
  Dl_info its{}, here{};
  return ::dladdr(function, &its) != 0 && ::dladdr(reals.data(), &here) != 0 &&
         its.dli_fbase == here.dli_fbase;
}

// What stands in the place of a function `found`: the copy that has it, or one that has none yet.
// Too many libraries between: itself, and not all launches are seen.
void* instead_of(unsigned hook, void* found) {
  if (is_ours(found)) found = driver_symbol(hooks[hook].symbol);
  for (unsigned copy = exported + 1; found != nullptr && copy < copies; ++copy) {
    void* known = nullptr;
    if (reals[hook][copy].compare_exchange_strong(known, found) || known == found)
      return ours_of(hook, copy);
  }
  if (found != nullptr) lose_sight("too many libraries stand before the driver");
  return found;
}

// --- Handing out functions -----------------------------------------------------------------------

// Where launches are put off or begin early, all other functions come to us first.
void* behind_what_waits(const char* name, void* found) {
  Engine* const launcher = engine();
  if (launcher == nullptr || !launcher->watches() || found == nullptr || tells_only(name) ||
      is_ours(found))
    return found;
  void* const stand_in = watched(found);
  if (stand_in != nullptr) return stand_in;
  launcher->lose_sight("there are too many functions");
  return found;
}

// Which of two a program gets by this name hangs on the version that it asks for. None: there is
// one.
unsigned hook_by_version(std::string_view name, int version) {
  constexpr int with_status = 12000, of_context = 13000, with_affinity = 11040,
                with_parameters = 12050;
  if (name == "cuGetProcAddress") return version >= with_status ? address_2 : address;
  if (name == "cuCtxCreate")
    return version >= with_parameters ? context_create_4
           : version >= with_affinity ? context_create_3
                                      : context_create_2;
  if (name == "cuCtxSynchronize") return version >= of_context ? synchronize_2 : synchronize;
  return hook_count;
}

void replace(const char* name, void** function, int version, cuuint64_t flags) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  if (const unsigned hook = hook_by_version(name, version); hook != hook_count) {
    *function = instead_of(hook, *function);
    return;
  }
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  for (unsigned hook = 0; hook < hooks.size(); ++hook) {
    const bool fits_both = hook >= first_forgetting;
    if (std::strcmp(hooks[hook].name, name) != 0 ||
        (hooks[hook].per_thread != per_thread && !fits_both))
      continue;
    *function = instead_of(hook, *function);
    return;
  }
  *function = behind_what_waits(name, *function);
}

template <unsigned copy>
CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t flags) {
  auto* const real = real_of<GetProcAddress>(address, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(name, function, version, flags);
  if (result != CUDA_SUCCESS) return result;
  replace(name, function, version, flags);
  return result;
}

template <unsigned copy>
CUresult get_proc_address_2(const char* name, void** function, int version, cuuint64_t flags,
                            CUdriverProcAddressQueryResult* status) {
  auto* const real = real_of<GetProcAddress2>(address_2, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(name, function, version, flags, status);
  if (result != CUDA_SUCCESS) return result;
  replace(name, function, version, flags);
  return result;
}

// The driver's function of this name, to be called behind what waits; null where dlsym may answer.
void* watched_symbol(void* handle, const char* name) {
  Engine* const launcher = engine();
  if (launcher == nullptr || !launcher->watches() || name[2] < 'A' || name[2] > 'Z') return nullptr;
  if (handle != RTLD_DEFAULT && handle != RTLD_NEXT) {
    void* const found = real_dlsym(handle, name);
    return is_drivers(found) ? behind_what_waits(name, found) : nullptr;
  }
  // What comes next hangs on who asks; all the same where nobody but the driver has it.
  for (void* const order : {RTLD_DEFAULT, RTLD_NEXT})
    if (void* const found = real_dlsym(order, name); found != nullptr && !is_drivers(found)) {
      lose_sight("another library stands before functions of the driver");
      return nullptr;
    }
  void* const found = driver_symbol(name);
  return found == nullptr ? nullptr : behind_what_waits(name, found);
}

// --- All of them ---------------------------------------------------------------------------------

template <unsigned hook, unsigned copy> void* made() {
  if constexpr (hook == plain || hook == plain_thread)
    return pointer(launch_kernel<hook, copy>);
  else if constexpr (hook == ex || hook == ex_thread)
    return pointer(launch_kernel_ex<hook, copy>);
  else if constexpr (hook == address)
    return pointer(get_proc_address<copy>);
  else if constexpr (hook == address_2)
    return pointer(get_proc_address_2<copy>);
  else if constexpr (hook < first_of_sharing)
    return call_hook(hook, copy);
  else if constexpr (hook < first_of_modules)
    return sharing_hook(hook, copy);
  else if constexpr (hook < first_of_links)
    return module_hook(hook, copy);
  else
    return link_hook(hook, copy);
}

void* ours_of(unsigned hook, unsigned copy) {
  return made_for<0, hook_count>(hook, copy, []<unsigned its_hook, unsigned its_copy>() {
    return made<its_hook, its_copy>();
  });
}

// Loaded by the program, never by us; null until then.
void* driver_library() {
  static std::atomic<void*> library{nullptr};
  void* found = library.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    library.store(found, std::memory_order_release);
  }
  return found;
}

[[gnu::destructor]] void at_exit() {
  if (Engine* const launcher = engine()) launcher->write_report();
}

} // namespace

const Driver& driver() {
  if (driver_library() == nullptr) {
    static const Driver none;
    return none;
  }
  static const Driver found;
  return found;
}

void* driver_symbol(const char* name) {
  void* const library = driver_library();
  return library == nullptr ? nullptr : real_dlsym(library, name);
}

} // namespace ptxasw::launch

using namespace ptxasw::launch;

extern "C" {

using Dlsym = void* (*)(void*, const char*);
[[gnu::visibility("hidden")]] Dlsym ptxasw_real_dlsym = nullptr; // atomic

// A sanitizer calls dlsym while it starts, when no function that it has changed may run yet.
#define PTXASW_UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

// What dlsym has to answer instead of what it would, or null.
[[gnu::visibility("hidden")]] PTXASW_UNSANITIZED void* ptxasw_hooked_symbol(void* handle,
                                                                            const char* name) {
  const Dlsym real = reinterpret_cast<Dlsym>(ptxasw::launch::real_dlsym(nullptr, nullptr));
  if (name == nullptr || std::strncmp(name, "cu", 2) != 0) return nullptr;
  for (unsigned hook = 0; hook < hooks.size(); ++hook) {
    if (std::strcmp(hooks[hook].symbol, name) != 0) continue;
    // Without a file it is whose turn it is in the order of symbols, which ours are in.
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) return nullptr;
    void* const found = real(handle, name);
    return found == nullptr || ptxasw::launch::is_ours(found)
               ? found
               : ptxasw::launch::instead_of(hook, found);
  }
  return ptxasw::launch::watched_symbol(handle, name);
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
  return ptxasw::launch::launch_kernel<plain, exported>(f, gx, gy, gz, bx, by, bz, shared, stream,
                                                        parameters, extra);
}
PTXASW_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                           unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                           CUstream stream, void** parameters, void** extra) {
  return ptxasw::launch::launch_kernel<plain_thread, exported>(f, gx, gy, gz, bx, by, bz, shared,
                                                               stream, parameters, extra);
}
PTXASW_EXPORT CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f,
                                                void** parameters, void** extra) {
  return ptxasw::launch::launch_kernel_ex<ex, exported>(config, f, parameters, extra);
}
PTXASW_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f,
                                             void** parameters, void** extra) {
  return ptxasw::launch::launch_kernel_ex<ex_thread, exported>(config, f, parameters, extra);
}
PTXASW_EXPORT CUresult cuGetProcAddress(const char* name, void** function, int version,
                                        cuuint64_t flags) {
  return ptxasw::launch::get_proc_address<exported>(name, function, version, flags);
}
PTXASW_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char* name, void** function, int version,
                                                   cuuint64_t flags,
                                                   CUdriverProcAddressQueryResult* status) {
  return ptxasw::launch::get_proc_address_2<exported>(name, function, version, flags, status);
}
} // extern "C"

namespace ptxasw::launch {

PTXASW_UNSANITIZED void* real_dlsym(void* handle, const char* name) {
  Dlsym real = __atomic_load_n(&ptxasw_real_dlsym, __ATOMIC_ACQUIRE);
  if (real == nullptr) {
    void* found = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (found == nullptr) found = ::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    real = reinterpret_cast<Dlsym>(found);
    __atomic_store_n(&ptxasw_real_dlsym, real, __ATOMIC_RELEASE);
  }
  return name == nullptr ? reinterpret_cast<void*>(real) : real(handle, name);
}

} // namespace ptxasw::launch
