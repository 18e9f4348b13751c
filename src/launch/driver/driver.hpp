// The CUDA driver that the program itself has loaded. Functions are looked up there when first
// needed; one that this driver does not have is null, and what needs it is not done.
#pragma once

#include <cuda.h>

#include <dlfcn.h>

namespace ptxasw::launch {

// The dlsym of the C library: our own stands in its place (hooks.cpp).
void* real_dlsym(void* handle, const char* name);
// Null if the program has not loaded libcuda.
void* driver_symbol(const char* name);

template <class Function> Function* driver_function(const char* name) {
  return reinterpret_cast<Function*>(driver_symbol(name));
}

// Names as the driver exports them: those that cuda.h defines away stand with their suffix.
#define PTXASW_DRIVER_FUNCTIONS(X)                                                                 \
  X(ctx_get_current, CUresult(CUcontext*), "cuCtxGetCurrent")                                      \
  X(ctx_get_device, CUresult(CUdevice*), "cuCtxGetDevice")                                         \
  X(primary_ctx_get_state, CUresult(CUdevice, unsigned*, int*), "cuDevicePrimaryCtxGetState")      \
  X(ctx_push, CUresult(CUcontext), "cuCtxPushCurrent_v2")                                          \
  X(ctx_pop, CUresult(CUcontext*), "cuCtxPopCurrent_v2")                                           \
  X(pointer_get_attribute, CUresult(void*, CUpointer_attribute, CUdeviceptr),                      \
    "cuPointerGetAttribute")                                                                       \
  X(stream_get_id, CUresult(CUstream, unsigned long long*), "cuStreamGetId")                       \
  X(launch_kernel_ex, CUresult(const CUlaunchConfig*, CUfunction, void**, void**),                 \
    "cuLaunchKernelEx")                                                                            \
  X(mem_alloc, CUresult(CUdeviceptr*, size_t), "cuMemAlloc_v2")                                    \
  X(device_get_count, CUresult(int*), "cuDeviceGetCount")                                          \
  X(device_get, CUresult(CUdevice*, int), "cuDeviceGet")                                           \
  X(device_get_attribute, CUresult(int*, CUdevice_attribute, CUdevice), "cuDeviceGetAttribute")    \
  X(device_get_name, CUresult(char*, int, CUdevice), "cuDeviceGetName")                            \
  X(kernel_get_function, CUresult(CUfunction*, CUkernel), "cuKernelGetFunction")                   \
  X(func_get_name, CUresult(const char**, CUfunction), "cuFuncGetName")                            \
  X(func_get_module, CUresult(CUmodule*, CUfunction), "cuFuncGetModule")                           \
  X(func_get_attribute, CUresult(int*, CUfunction_attribute, CUfunction), "cuFuncGetAttribute")    \
  X(func_set_attribute, CUresult(CUfunction, CUfunction_attribute, int), "cuFuncSetAttribute")     \
  X(func_get_param_info, CUresult(CUfunction, size_t, size_t*, size_t*), "cuFuncGetParamInfo")     \
  X(func_load, CUresult(CUfunction), "cuFuncLoad")                                                 \
  X(module_get_function, CUresult(CUfunction*, CUmodule, const char*), "cuModuleGetFunction")      \
  X(module_get_global, CUresult(CUdeviceptr*, size_t*, CUmodule, const char*),                     \
    "cuModuleGetGlobal_v2")                                                                        \
  X(module_get_function_count, CUresult(unsigned*, CUmodule), "cuModuleGetFunctionCount")          \
  X(module_enumerate_functions, CUresult(CUfunction*, unsigned, CUmodule),                         \
    "cuModuleEnumerateFunctions")                                                                  \
  X(library_get_module, CUresult(CUmodule*, CUlibrary), "cuLibraryGetModule")                      \
  X(library_unload, CUresult(CUlibrary), "cuLibraryUnload")                                        \
  X(exchange_capture_mode, CUresult(CUstreamCaptureMode*), "cuThreadExchangeStreamCaptureMode")    \
  X(stream_is_capturing, CUresult(CUstream, CUstreamCaptureStatus*), "cuStreamIsCapturing")        \
  X(stream_create, CUresult(CUstream*, unsigned), "cuStreamCreate")                                \
  X(stream_destroy, CUresult(CUstream), "cuStreamDestroy_v2")                                      \
  X(stream_synchronize, CUresult(CUstream), "cuStreamSynchronize")                                 \
  X(stream_query, CUresult(CUstream), "cuStreamQuery")                                             \
  X(event_create, CUresult(CUevent*, unsigned), "cuEventCreate")                                   \
  X(event_destroy, CUresult(CUevent), "cuEventDestroy_v2")                                         \
  X(event_record, CUresult(CUevent, CUstream), "cuEventRecord")                                    \
  X(event_query, CUresult(CUevent), "cuEventQuery")                                                \
  X(event_elapsed, CUresult(float*, CUevent, CUevent), "cuEventElapsedTime")                       \
  X(copy_to_host, CUresult(void*, CUdeviceptr, size_t, CUstream), "cuMemcpyDtoHAsync_v2")          \
  X(copy_to_device, CUresult(CUdeviceptr, const void*, size_t, CUstream), "cuMemcpyHtoDAsync_v2")  \
  X(copy_on_device, CUresult(CUdeviceptr, CUdeviceptr, size_t, CUstream), "cuMemcpyDtoDAsync_v2")  \
  X(graph_create, CUresult(CUgraph*, unsigned), "cuGraphCreate")                                   \
  X(graph_destroy, CUresult(CUgraph), "cuGraphDestroy")                                            \
  X(graph_add_kernel,                                                                              \
    CUresult(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_KERNEL_NODE_PARAMS*),   \
    "cuGraphAddKernelNode_v2")                                                                     \
  X(graph_instantiate, CUresult(CUgraphExec*, CUgraph, unsigned long long),                        \
    "cuGraphInstantiateWithFlags")                                                                 \
  X(graph_exec_destroy, CUresult(CUgraphExec), "cuGraphExecDestroy")                               \
  X(graph_exec_set_kernel, CUresult(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*),     \
    "cuGraphExecKernelNodeSetParams_v2")                                                           \
  X(graph_add_dependencies,                                                                        \
    CUresult(CUgraph, const CUgraphNode*, const CUgraphNode*, const CUgraphEdgeData*, size_t),     \
    "cuGraphAddDependencies_v2")                                                                   \
  X(graph_launch, CUresult(CUgraphExec, CUstream), "cuGraphLaunch")                                \
  X(mem_get_address_range, CUresult(CUdeviceptr*, size_t*, CUdeviceptr), "cuMemGetAddressRange_v2")

struct Driver {
  template <class Type> using Pointer = Type*;
#define PTXASW_FIELD(name, type, symbol) Pointer<type> name = driver_function<type>(symbol);
  PTXASW_DRIVER_FUNCTIONS(PTXASW_FIELD)
#undef PTXASW_FIELD
};

// Without a function, as long as the program has not loaded its driver: the launcher may be asked
// for symbols before.
const Driver& driver();

// Other threads' captures must not be broken by what we ask (cuThreadExchangeStreamCaptureMode).
class Relaxed {
public:
  Relaxed() {
    if (driver().exchange_capture_mode != nullptr) driver().exchange_capture_mode(&mode_);
  }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;
  ~Relaxed() {
    if (driver().exchange_capture_mode != nullptr) driver().exchange_capture_mode(&mode_);
  }

private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace ptxasw::launch
