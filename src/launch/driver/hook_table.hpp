// The functions of the driver that programs get from us, and what is behind each copy of ours.
#pragma once

#include "launch/driver/driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

namespace ptxasw::launch {

struct Hook {
  const char* symbol;      // as the driver exports it
  const char* name;        // as cuGetProcAddress is asked for it; empty: not by that alone
  bool per_thread = false; // the default stream is the thread's
};

enum : unsigned {
  plain,
  plain_thread,
  ex,
  ex_thread,
  address,
  address_2,
  copy_async,
  copy_async_thread,
  copy_any_async,
  copy_any_async_thread,
  copy_now,
  copy_now_thread,
  copy_any,
  copy_any_thread,
  cooperative,
  cooperative_thread,
  synchronize,
  synchronize_2,
  copy_to_host,
  first_forgetting,
  stream_create = first_forgetting + 7,
  stream_create_with_priority,
  stream_create_of_part,
  first_of_sharing,
  context_create_2 = first_of_sharing + 12,
  context_create_3,
  context_create_4,
  first_of_modules,
  module_load = first_of_modules,
  module_load_data,
  module_load_data_ex,
  module_load_fat_binary,
  library_load_data,
  library_load_from_file,
  module_get_function,
  module_get_global,
  module_get_function_count,
  module_enumerate_functions,
  library_get_kernel,
  library_get_global,
  library_get_kernel_count,
  library_enumerate_kernels,
  library_get_module,
  first_of_links,
  link_create = first_of_links,
  link_create_1,
  link_add_data,
  link_add_data_1,
  link_add_file,
  link_add_file_1,
  link_complete,
  link_destroy,
  hook_count
};
inline constexpr std::array<Hook, hook_count> hooks{{
    {"cuLaunchKernel", "cuLaunchKernel", false},
    {"cuLaunchKernel_ptsz", "cuLaunchKernel", true},
    {"cuLaunchKernelEx", "cuLaunchKernelEx", false},
    {"cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", true},
    {"cuGetProcAddress", ""},
    {"cuGetProcAddress_v2", ""},
    // Within a device the host waits for none of these.
    {"cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync", false},
    {"cuMemcpyDtoDAsync_v2_ptsz", "cuMemcpyDtoDAsync", true},
    {"cuMemcpyAsync", "cuMemcpyAsync", false},
    {"cuMemcpyAsync_ptsz", "cuMemcpyAsync", true},
    {"cuMemcpyDtoD_v2", "cuMemcpyDtoD", false},
    {"cuMemcpyDtoD_v2_ptds", "cuMemcpyDtoD", true},
    {"cuMemcpy", "cuMemcpy", false},
    {"cuMemcpy_ptds", "cuMemcpy", true},
    {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel", false},
    {"cuLaunchCooperativeKernel_ptsz", "cuLaunchCooperativeKernel", true},
    // Behind these nothing runs in a context.
    {"cuCtxSynchronize", ""},
    {"cuCtxSynchronize_v2", ""},
    // Nor behind this one, but in streams that are not blocking.
    {"cuMemcpyDtoH_v2", "cuMemcpyDtoH"},
    // After these a handle may stand for another kernel. Each takes one argument.
    {"cuModuleUnload", "cuModuleUnload"},
    {"cuLibraryUnload", "cuLibraryUnload"},
    {"cuCtxDestroy_v2", "cuCtxDestroy"},
    {"cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset"},
    {"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease"},
    {"cuDevicePrimaryCtxReset", ""},
    {"cuDevicePrimaryCtxRelease", ""},
    {"cuStreamCreate", "cuStreamCreate"},
    {"cuStreamCreateWithPriority", "cuStreamCreateWithPriority"},
    {"cuGreenCtxStreamCreate", "cuGreenCtxStreamCreate"},
    // From then on others may reach memory without a call of ours.
    {"cuIpcGetMemHandle", "cuIpcGetMemHandle"},
    {"cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle"},
    {"cuMemExportToShareableHandle", "cuMemExportToShareableHandle"},
    {"cuMemImportFromShareableHandle", "cuMemImportFromShareableHandle"},
    {"cuMemGetHandleForAddressRange", "cuMemGetHandleForAddressRange"},
    {"cuMemPoolExportPointer", "cuMemPoolExportPointer"},
    {"cuMemPoolImportPointer", "cuMemPoolImportPointer"},
    {"cuImportExternalMemory", "cuImportExternalMemory"},
    {"cuCtxEnablePeerAccess", "cuCtxEnablePeerAccess"},
    {"cuMemSetAccess", "cuMemSetAccess"},
    {"cuMemPoolSetAccess", "cuMemPoolSetAccess"},
    {"cuGreenCtxCreate", "cuGreenCtxCreate"},
    {"cuCtxCreate_v2", ""}, // by version
    {"cuCtxCreate_v3", ""},
    {"cuCtxCreate_v4", ""},
    // What loads images, and what tells of them (module_hooks.cpp).
    {"cuModuleLoad", "cuModuleLoad"},
    {"cuModuleLoadData", "cuModuleLoadData"},
    {"cuModuleLoadDataEx", "cuModuleLoadDataEx"},
    {"cuModuleLoadFatBinary", "cuModuleLoadFatBinary"},
    {"cuLibraryLoadData", "cuLibraryLoadData"},
    {"cuLibraryLoadFromFile", "cuLibraryLoadFromFile"},
    {"cuModuleGetFunction", "cuModuleGetFunction"},
    {"cuModuleGetGlobal_v2", "cuModuleGetGlobal"},
    {"cuModuleGetFunctionCount", "cuModuleGetFunctionCount"},
    {"cuModuleEnumerateFunctions", "cuModuleEnumerateFunctions"},
    {"cuLibraryGetKernel", "cuLibraryGetKernel"},
    {"cuLibraryGetGlobal", "cuLibraryGetGlobal"},
    {"cuLibraryGetKernelCount", "cuLibraryGetKernelCount"},
    {"cuLibraryEnumerateKernels", "cuLibraryEnumerateKernels"},
    {"cuLibraryGetModule", "cuLibraryGetModule"},
    // What links (link_hooks.cpp). The older ones take the same.
    {"cuLinkCreate_v2", "cuLinkCreate"},
    {"cuLinkCreate", ""},
    {"cuLinkAddData_v2", "cuLinkAddData"},
    {"cuLinkAddData", ""},
    {"cuLinkAddFile_v2", "cuLinkAddFile"},
    {"cuLinkAddFile", ""},
    {"cuLinkComplete", "cuLinkComplete"},
    {"cuLinkDestroy", "cuLinkDestroy"},
}};

// Whether programs that are linked against libcuda find ours before the driver's own (hooks.cpp).
[[nodiscard]] inline bool is_exported(std::string_view name) {
  return std::ranges::any_of(hooks, [&](const Hook& hook) { return hook.symbol == name; });
}

// Of each: the one that we export, and those that are handed out.
inline constexpr unsigned exported = 0, copies = 4;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): found once, for the process
inline std::array<std::array<std::atomic<void*>, copies>, hooks.size()> reals{};

// The function behind a copy; the exported one's is next in the order in which symbols are
// searched, or where the driver is not in that order, the driver's. Null as long as there is none.
template <class Function> Function* real_of(unsigned hook, unsigned copy) {
  std::atomic<void*>& known = reals[hook][copy];
  void* found = known.load(std::memory_order_acquire);
  if (found == nullptr && copy == exported) {
    found = real_dlsym(RTLD_NEXT, hooks[hook].symbol);
    if (found == nullptr) found = driver_symbol(hooks[hook].symbol);
    known.store(found, std::memory_order_release);
  }
  return reinterpret_cast<Function*>(found);
}

template <class Function> void* pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Of a copy of one of the hooks from `first` on, what `make` makes for it.
template <unsigned first, unsigned end, class Make>
void* made_for(unsigned hook, unsigned copy, const Make& make) {
  static const auto all = [&]<unsigned... number>(std::integer_sequence<unsigned, number...>) {
    return std::array<void*, sizeof...(number)>{
        make.template operator()<first + number / copies, number % copies>()...};
  }
  (std::make_integer_sequence<unsigned, (end - first) * copies>());
  return all.at((hook - first) * copies + copy);
}

// The legacy and the per-thread default stream have no handle of their own but these.
template <bool per_thread> CUstream named(CUstream stream) {
  if (stream != nullptr) return stream;
  return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

} // namespace ptxasw::launch
