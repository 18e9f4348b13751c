#include "launch/hooks/call_hooks.hpp"

#include "launch/driver/hook_table.hpp"
#include "launch/driver/in_context.hpp"
#include "launch/engine/engine.hpp"
#include "launch/waiting/trampolines.hpp"

#include <cstddef>
#include <cstdint>

// cuda.h lets some names stand for others; here each is what it says.
#undef cuLaunchCooperativeKernel
#undef cuMemcpy
#undef cuMemcpyAsync
#undef cuMemcpyDtoD_v2
#undef cuMemcpyDtoDAsync_v2
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxRelease

namespace ptxasw::launch {
namespace {

using CopyAsync = CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream);
using Copy = CUresult(CUdeviceptr, CUdeviceptr, std::size_t);
using LaunchCooperatively = CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, CUstream, void**);

// Where a run of steps takes it, both ends are arrays of its device (make_run.cpp).
bool takes_copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  if (!is_waiting()) return false;
  Engine* const launcher = engine();
  return launcher != nullptr && launcher->take_copy({to, from, bytes, stream});
}

template <unsigned hook, unsigned copy>
CUresult copy_in_stream(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  auto* const real = real_of<CopyAsync>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (takes_copy(to, from, bytes, named<hooks[hook].per_thread>(stream))) return CUDA_SUCCESS;
  return real(to, from, bytes, stream);
}

template <unsigned hook, unsigned copy>
CUresult copy_by_default(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  auto* const real = real_of<Copy>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (takes_copy(to, from, bytes, named<hooks[hook].per_thread>(nullptr))) return CUDA_SUCCESS;
  return real(to, from, bytes);
}

// It may count on as many blocks as fit on the chip: a profile has to know.
template <unsigned hook, unsigned copy>
CUresult launch_cooperatively(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, CUstream stream,
                              void** parameters) {
  auto* const real = real_of<LaunchCooperatively>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (Engine* const launcher = engine()) {
    launcher->flush();
    launcher->count_cooperative(f);
    launcher->count_with_attributes();
  }
  return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters);
}

// As it came, behind what waits. Where it went well the launcher is told, before it returns.
template <class Tell, class... Parameters>
CUresult call_and_tell(unsigned hook, unsigned copy, const Tell& tell, Parameters... parameters) {
  auto* const real = real_of<CUresult(Parameters...)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher != nullptr && is_waiting()) launcher->flush();
  const CUresult result = real(parameters...);
  if (result == CUDA_SUCCESS && launcher != nullptr) tell(*launcher);
  return result;
}

// For all that runs in the context; null: the current one.
template <class... Parameters>
CUresult wait_for(CUcontext context, unsigned hook, unsigned copy, Parameters... parameters) {
  auto* const real = real_of<CUresult(Parameters...)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr) return real(parameters...);
  if (is_waiting()) launcher->before_wait(context == nullptr ? current_context() : context);
  const CUresult result = real(parameters...);
  if (result != CUDA_SUCCESS)
    launcher->flush();
  else if (context == nullptr || context == current_context())
    launcher->context_is_idle();
  return result;
}
template <unsigned copy> CUresult wait_for_current_context() {
  return wait_for(nullptr, synchronize, copy);
}
template <unsigned copy> CUresult wait_for_this_context(CUcontext context) {
  return wait_for(context, synchronize_2, copy, context);
}

// To the host, which waits for it: in the default stream, so behind all that is in blocking ones.
template <unsigned copy> CUresult copy_to_the_host(void* to, CUdeviceptr from, std::size_t bytes) {
  const auto tell = [bytes](Engine& launcher) {
    if (bytes != 0) launcher.blocking_streams_are_idle();
  };
  return call_and_tell(copy_to_host, copy, tell, to, from, bytes);
}

// The flags are one of the parameters.
template <unsigned hook, unsigned copy, class... Parameters>
CUresult create_stream(unsigned flags, Parameters... parameters) {
  const auto tell = [flags](Engine& launcher) {
    if ((flags & CU_STREAM_NON_BLOCKING) != 0) launcher.note_stream_that_is_not_blocking();
  };
  return call_and_tell(hook, copy, tell, parameters...);
}
template <unsigned copy> CUresult create_usual_stream(CUstream* stream, unsigned flags) {
  return create_stream<stream_create, copy>(flags, stream, flags);
}
template <unsigned copy>
CUresult create_stream_with_priority(CUstream* stream, unsigned flags, int priority) {
  return create_stream<stream_create_with_priority, copy>(flags, stream, flags, priority);
}
template <unsigned copy>
CUresult create_stream_of_part(CUstream* stream, CUgreenCtx part, unsigned flags, int priority) {
  return create_stream<stream_create_of_part, copy>(flags, stream, part, flags, priority);
}

template <unsigned hook, unsigned copy> CUresult forget_and_call(void* handle) {
  auto* const real = real_of<CUresult(void*)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Engine* const launcher = engine();
  if (launcher == nullptr) return real(handle);
  launcher->forget_handles();
  // The driver may read its image until then; its handle may be given out again from then on.
  Images* const images = launcher->images();
  if (images == nullptr) return real(handle);
  constexpr bool is_of_context = hook >= first_forgetting + 2;
  if (is_of_context) images->late().forget_modules();
  const auto kept = images->take(handle);
  return real(handle);
}

void* handle_of(void* handle) {
  return handle;
}
void* handle_of(CUdevice device) {
  return reinterpret_cast<void*>(std::intptr_t{device});
}

template <unsigned hook, unsigned copy> void* made_call() {
  if constexpr (hook <= copy_any_async_thread)
    return pointer(copy_in_stream<hook, copy>);
  else if constexpr (hook <= copy_any_thread)
    return pointer(copy_by_default<hook, copy>);
  else if constexpr (hook <= cooperative_thread)
    return pointer(launch_cooperatively<hook, copy>);
  else if constexpr (hook == synchronize)
    return pointer(wait_for_current_context<copy>);
  else if constexpr (hook == synchronize_2)
    return pointer(wait_for_this_context<copy>);
  else if constexpr (hook == copy_to_host)
    return pointer(copy_to_the_host<copy>);
  else if constexpr (hook == stream_create)
    return pointer(create_usual_stream<copy>);
  else if constexpr (hook == stream_create_with_priority)
    return pointer(create_stream_with_priority<copy>);
  else if constexpr (hook == stream_create_of_part)
    return pointer(create_stream_of_part<copy>);
  else
    return pointer(forget_and_call<hook, copy>);
}

} // namespace

void* call_hook(unsigned hook, unsigned copy) {
  return made_for<copy_async, first_of_sharing>(
      hook, copy,
      []<unsigned its_hook, unsigned its_copy>() { return made_call<its_hook, its_copy>(); });
}

} // namespace ptxasw::launch

extern "C" {

using namespace ptxasw::launch; // NOLINT(google-build-using-namespace): names of hooks

#define PTXASW_EXPORT [[gnu::visibility("default")]]

#define PTXASW_COPY_ASYNC(symbol, hook)                                                            \
  PTXASW_EXPORT CUresult CUDAAPI symbol(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,       \
                                        CUstream stream) {                                         \
    return copy_in_stream<hook, exported>(to, from, bytes, stream);                                \
  }
PTXASW_COPY_ASYNC(cuMemcpyDtoDAsync_v2, copy_async)
PTXASW_COPY_ASYNC(cuMemcpyDtoDAsync_v2_ptsz, copy_async_thread)
PTXASW_COPY_ASYNC(cuMemcpyAsync, copy_any_async)
PTXASW_COPY_ASYNC(cuMemcpyAsync_ptsz, copy_any_async_thread)
#define PTXASW_COPY(symbol, hook)                                                                  \
  PTXASW_EXPORT CUresult CUDAAPI symbol(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {     \
    return copy_by_default<hook, exported>(to, from, bytes);                                       \
  }
PTXASW_COPY(cuMemcpyDtoD_v2, copy_now)
PTXASW_COPY(cuMemcpyDtoD_v2_ptds, copy_now_thread)
PTXASW_COPY(cuMemcpy, copy_any)
PTXASW_COPY(cuMemcpy_ptds, copy_any_thread)
#define PTXASW_FORGETTING(symbol, type, number)                                                    \
  PTXASW_EXPORT CUresult CUDAAPI symbol(type handle) {                                             \
    return forget_and_call<first_forgetting + number, exported>(handle_of(handle));                \
  }
PTXASW_FORGETTING(cuModuleUnload, CUmodule, 0)
PTXASW_FORGETTING(cuLibraryUnload, CUlibrary, 1)
PTXASW_FORGETTING(cuCtxDestroy_v2, CUcontext, 2)
PTXASW_FORGETTING(cuDevicePrimaryCtxReset_v2, CUdevice, 3)
PTXASW_FORGETTING(cuDevicePrimaryCtxRelease_v2, CUdevice, 4)
PTXASW_FORGETTING(cuDevicePrimaryCtxReset, CUdevice, 5)
PTXASW_FORGETTING(cuDevicePrimaryCtxRelease, CUdevice, 6)

PTXASW_EXPORT CUresult CUDAAPI cuCtxSynchronize() {
  return wait_for_current_context<exported>();
}
PTXASW_EXPORT CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context) {
  return wait_for_this_context<exported>(context);
}
PTXASW_EXPORT CUresult CUDAAPI cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_to_the_host<exported>(to, from, bytes);
}
PTXASW_EXPORT CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned flags) {
  return create_usual_stream<exported>(stream, flags);
}
PTXASW_EXPORT CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned flags,
                                                          int priority) {
  return create_stream_with_priority<exported>(stream, flags, priority);
}
PTXASW_EXPORT CUresult CUDAAPI cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx part,
                                                      unsigned flags, int priority) {
  return create_stream_of_part<exported>(stream, part, flags, priority);
}

#define PTXASW_COOPERATIVE(symbol, hook)                                                           \
  PTXASW_EXPORT CUresult CUDAAPI symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz,       \
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,    \
                                        CUstream stream, void** parameters) {                      \
    return launch_cooperatively<hook, exported>(f, gx, gy, gz, bx, by, bz, shared, stream,         \
                                                parameters);                                       \
  }
PTXASW_COOPERATIVE(cuLaunchCooperativeKernel, cooperative)
PTXASW_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, cooperative_thread)

} // extern "C"
