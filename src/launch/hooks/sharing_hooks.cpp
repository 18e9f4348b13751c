// What they take and return is as cuda.h declares it.
#include "launch/hooks/sharing_hooks.hpp"

#include "launch/driver/hook_table.hpp"
#include "launch/engine/engine.hpp"
#include "launch/waiting/direct_calls.hpp"

#include <cstddef>
#include <tuple>

// cuda.h lets some names stand for others; here each is what it says.
#undef cuIpcOpenMemHandle
#undef cuCtxCreate

namespace ptxasw::launch {
namespace {

#if CUDA_VERSION >= 12050
using CreateParameters = CUctxCreateParams;
#else
using CreateParameters = void;
#endif

template <unsigned hook, unsigned copy, class... Parameters>
CUresult share(Parameters... parameters) {
  auto* const real = real_of<CUresult(Parameters...)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  note_shared_memory();
  if (Engine* const launcher = engine()) launcher->flush();
  return real(parameters...);
}

} // namespace
} // namespace ptxasw::launch

extern "C" {

using namespace ptxasw::launch; // NOLINT(google-build-using-namespace): names of hooks

#define PTXASW_EXPORT [[gnu::visibility("default")]]

#define PTXASW_SHARING(number, symbol, parameters, ...)                                            \
  PTXASW_EXPORT CUresult CUDAAPI symbol parameters {                                               \
    return share<first_of_sharing + number, exported>(__VA_ARGS__);                                \
  }
PTXASW_SHARING(0, cuIpcGetMemHandle, (CUipcMemHandle * handle, CUdeviceptr memory), handle, memory)
PTXASW_SHARING(1, cuIpcOpenMemHandle_v2,
               (CUdeviceptr * memory, CUipcMemHandle handle, unsigned flags), memory, handle, flags)
PTXASW_SHARING(2, cuMemExportToShareableHandle,
               (void* to, CUmemGenericAllocationHandle memory, CUmemAllocationHandleType type,
                unsigned long long flags),
               to, memory, type, flags)
PTXASW_SHARING(3, cuMemImportFromShareableHandle,
               (CUmemGenericAllocationHandle * memory, void* handle,
                CUmemAllocationHandleType type),
               memory, handle, type)
PTXASW_SHARING(4, cuMemGetHandleForAddressRange,
               (void* handle, CUdeviceptr memory, std::size_t bytes, CUmemRangeHandleType type,
                unsigned long long flags),
               handle, memory, bytes, type, flags)
PTXASW_SHARING(5, cuMemPoolExportPointer, (CUmemPoolPtrExportData * to, CUdeviceptr memory), to,
               memory)
PTXASW_SHARING(6, cuMemPoolImportPointer,
               (CUdeviceptr * memory, CUmemoryPool pool, CUmemPoolPtrExportData* from), memory,
               pool, from)
PTXASW_SHARING(7, cuImportExternalMemory,
               (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* from), memory,
               from)

PTXASW_SHARING(8, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), peer, flags)
PTXASW_SHARING(9, cuMemSetAccess,
               (CUdeviceptr memory, std::size_t bytes, const CUmemAccessDesc* access,
                std::size_t count),
               memory, bytes, access, count)
PTXASW_SHARING(10, cuMemPoolSetAccess,
               (CUmemoryPool pool, const CUmemAccessDesc* access, std::size_t count), pool, access,
               count)
PTXASW_SHARING(11, cuGreenCtxCreate,
               (CUgreenCtx * made, CUdevResourceDesc of, CUdevice device, unsigned flags), made, of,
               device, flags)
PTXASW_SHARING(12, cuCtxCreate_v2, (CUcontext * made, unsigned flags, CUdevice device), made, flags,
               device)
PTXASW_SHARING(13, cuCtxCreate_v3,
               (CUcontext * made, CUexecAffinityParam* of, int count, unsigned flags,
                CUdevice device),
               made, of, count, flags, device)
PTXASW_SHARING(14, cuCtxCreate_v4,
               (CUcontext * made, CreateParameters* of, unsigned flags, CUdevice device), made, of,
               flags, device)

} // extern "C"

namespace ptxasw::launch {
namespace {

// In the order of their hooks.
using Functions =
    std::tuple<decltype(&cuIpcGetMemHandle), decltype(&cuIpcOpenMemHandle_v2),
               decltype(&cuMemExportToShareableHandle), decltype(&cuMemImportFromShareableHandle),
               decltype(&cuMemGetHandleForAddressRange), decltype(&cuMemPoolExportPointer),
               decltype(&cuMemPoolImportPointer), decltype(&cuImportExternalMemory),
               decltype(&cuCtxEnablePeerAccess), decltype(&cuMemSetAccess),
               decltype(&cuMemPoolSetAccess), decltype(&cuGreenCtxCreate),
               decltype(&cuCtxCreate_v2), decltype(&cuCtxCreate_v3), decltype(&cuCtxCreate_v4)>;
static_assert(std::tuple_size_v<Functions> == first_of_modules - first_of_sharing);

template <unsigned hook, unsigned copy, class... Parameters>
void* made_as(CUresult (*)(Parameters...)) {
  return pointer(share<hook, copy, Parameters...>);
}

} // namespace

void* sharing_hook(unsigned hook, unsigned copy) {
  return made_for<first_of_sharing, first_of_modules>(
      hook, copy, []<unsigned its_hook, unsigned its_copy>() {
        return made_as<its_hook, its_copy>(
            std::tuple_element_t<its_hook - first_of_sharing, Functions>{});
      });
}

} // namespace ptxasw::launch
