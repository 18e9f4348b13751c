// The functions of the fake driver.
#include "fake.hpp"
#include "images.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#undef cuGetProcAddress
#undef cuLaunchKernel
#undef cuLaunchKernelEx
#undef cuEventElapsedTime
#undef cuEventDestroy
#undef cuStreamDestroy
#undef cuCtxDestroy
#undef cuMemcpyDtoHAsync
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoH
#undef cuMemcpyHtoD
#undef cuMemsetD8
#undef cuMemcpyDtoDAsync
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent

using fake::Function;
using fake::Launched;
using fake::Module;

namespace {

fake::Driver& state() {
  static auto& made = *new fake::Driver; // it is asked until the very end of a program
  return made;
}

void count(const char* name) {
  {
    const std::lock_guard lock(state().mutex);
    ++state().calls[name];
  }
  if (state().tool) state().tool(name);
}

Function* function_of(CUfunction handle) {
  for (const auto& module : state().modules)
    for (const auto& [name, function] : module->functions)
      if (reinterpret_cast<CUfunction>(function.get()) == handle) return function.get();
  return nullptr;
}

bool is_ahead(const CUlaunchConfig& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const auto& attribute) {
    return attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
           attribute.value.programmaticStreamSerializationAllowed != 0;
  });
}

// Of a launch: as a test says, or as FAKE_TIMES does for a program of its own: "k=3
// k__ptxasw_y2=1", milliseconds.
double time_of(const Function& function) {
  const char* const times = std::getenv("FAKE_TIMES");
  if (times == nullptr) return function.milliseconds;
  const std::string all = std::string(" ") + times, name = ' ' + function.name + '=';
  const std::size_t at = all.find(name);
  return at == all.npos ? function.milliseconds : std::atof(all.c_str() + at + name.size());
}

Function* kernel_of(CUfunction handle) {
  for (const auto& kernel : state().kernels)
    if (reinterpret_cast<CUfunction>(kernel.get()) == handle) return *kernel;
  return nullptr;
}

CUresult launch(const char* by, CUfunction f, std::vector<unsigned> grid,
                std::vector<unsigned> block, unsigned shared, CUstream stream, void** parameters,
                void** extra, bool ahead = false) {
  std::unique_lock lock(state().mutex);
  ++state().calls[by];
  Function* function = function_of(f);
  if (function == nullptr) function = kernel_of(f);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (grid[0] * grid[1] * grid[2] == 0) return CUDA_ERROR_INVALID_VALUE;
  if (block[0] * block[1] * block[2] > static_cast<unsigned>(function->most_threads))
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (function->result != CUDA_SUCCESS) return function->result;
  Launched launched{function->name, grid, block, shared, stream, {}, by, ahead};
  std::size_t offset = 0;
  for (std::size_t n = 0; n < function->parameters.size(); ++n) {
    const std::size_t size = function->parameters[n], align = size > 8 ? 4 : size;
    offset = (offset + align - 1) / align * align;
    const char* from = extra != nullptr ? static_cast<const char*>(extra[1]) + offset
                                        : static_cast<const char*>(parameters[n]);
    launched.parameters.emplace_back(from, from + size);
    offset += size;
  }
  state().launches.push_back(launched);
  state().clock += time_of(*function);
  lock.unlock();
  if (function->run) function->run(launched);
  return CUDA_SUCCESS;
}

std::unique_ptr<fake::Node> node_of(const CUDA_KERNEL_NODE_PARAMS& kernel) {
  auto made = std::make_unique<fake::Node>();
  made->kernel = kernel;
  const Function* const function = function_of(kernel.func);
  for (size_t n = 0; n < function->parameters.size(); ++n) {
    const auto* const value = static_cast<const unsigned char*>(kernel.kernelParams[n]);
    made->values.emplace_back(value, value + function->parameters[n]);
  }
  return made;
}

} // namespace

extern "C" {

fake::Driver* fake_driver() {
  return &state();
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void** parameters, void** extra) {
  return launch("cuLaunchKernel", f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra);
}
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream,
                             void** parameters, void** extra) {
  return launch("cuLaunchKernel_ptsz", f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters,
                extra);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** parameters, void** extra) {
  return launch("cuLaunchKernelEx", f, {c->gridDimX, c->gridDimY, c->gridDimZ},
                {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream,
                parameters, extra, is_ahead(*c));
}
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* c, CUfunction f, void** parameters,
                               void** extra) {
  return launch("cuLaunchKernelEx_ptsz", f, {c->gridDimX, c->gridDimY, c->gridDimZ},
                {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream,
                parameters, extra, is_ahead(*c));
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** parameters) {
  return launch("cuLaunchCooperativeKernel", f, {gx, gy, gz}, {bx, by, bz}, shared, stream,
                parameters, nullptr);
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  count("cuCtxGetCurrent");
  *context = reinterpret_cast<CUcontext>(1);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  count("cuCtxSynchronize");
  return state().synchronized;
}
CUresult cuCtxSynchronize_v2(CUcontext) {
  count("cuCtxSynchronize_v2");
  return state().synchronized;
}
CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char** name) {
  *name = "an error";
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(1);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == 0 || state().is_second_active ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = state().devices;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  const auto& all = state().capabilities;
  const int capability = all.at(std::min(static_cast<std::size_t>(device), all.size() - 1));
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = state().multiprocessors; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability / 10; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability % 10; break;
  default: *value = state().threads; break;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel_of(reinterpret_cast<CUfunction>(kernel)));
  return *function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction f) {
  count("cuFuncGetName");
  const Function* function = function_of(f);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction f) {
  const Function* function = function_of(f);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = reinterpret_cast<CUmodule>(function->module);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction f) {
  count("cuFuncGetAttribute");
  const Function* function = function_of(f);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!function->is_loaded) return CUDA_ERROR_FUNCTION_NOT_LOADED;
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? function->most_threads
                                                                : function->registers;
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction f) {
  count("cuFuncLoad");
  if (Function* function = function_of(f)) function->is_loaded = true;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  count("cuFuncSetAttribute");
  return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t* offset, size_t* size) {
  const Function* function = function_of(f);
  if (function == nullptr || index >= function->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (size_t n = 0; n <= index; ++n) {
    *size = function->parameters[n];
    const size_t align = *size > 8 ? 4 : *size;
    *offset = (*offset + align - 1) / align * align + (n < index ? *size : 0);
  }
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const auto& all = reinterpret_cast<Module*>(module)->functions;
  const auto found = all.find(name);
  if (found == all.end()) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(found->second.get());
  return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* at, size_t* size, CUmodule module, const char* name) {
  const auto& arrays = reinterpret_cast<Module*>(module)->arrays;
  if (const auto array = arrays.find(name); array != arrays.end()) {
    *at = reinterpret_cast<CUdeviceptr>(array->second->data());
    *size = array->second->size();
    return CUDA_SUCCESS;
  }
  auto& all = reinterpret_cast<Module*>(module)->globals;
  const auto found = all.find(name);
  if (found == all.end()) return CUDA_ERROR_NOT_FOUND;
  *at = reinterpret_cast<CUdeviceptr>(found->second.data());
  *size = found->second.size();
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  count("cuModuleUnload");
  auto& all = state().modules;
  std::erase_if(all, [&](const auto& m) { return m.get() == reinterpret_cast<Module*>(module); });
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  const std::lock_guard lock(state().mutex);
  std::swap(*mode, state().mode);
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = state().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(0x77);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
CUresult cuStreamDestroy_v2(CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return CUDA_SUCCESS;
}
// What nobody has written yet is no number that a test could expect.
CUresult cuMemAlloc_v2(CUdeviceptr* at, size_t size) {
  count("cuMemAlloc");
  if (state().mode != CU_STREAM_CAPTURE_MODE_RELAXED) state().allocated_in_strict_mode = true;
  if (size > state().room) return CUDA_ERROR_OUT_OF_MEMORY;
  auto& made = state().allocate(size);
  std::memset(made.data(), 0xcd, made.size());
  *at = reinterpret_cast<CUdeviceptr>(made.data());
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr at) {
  count("cuMemFree");
  state().numbers.erase(at);
  return state().memory.erase(at) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream) {
  return state().streams_end ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuIpcGetMemHandle(CUipcMemHandle*, CUdeviceptr) {
  count("cuIpcGetMemHandle");
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) {
  count("cuStreamSynchronize");
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  count("cuEventCreate");
  *event = reinterpret_cast<CUevent>(new double(0));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
  count("cuEventDestroy");
  delete reinterpret_cast<double*>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream) {
  const std::lock_guard lock(state().mutex);
  *reinterpret_cast<double*>(event) = state().clock;
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent) {
  count("cuEventQuery");
  return state().events_done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent) {
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  *ms = static_cast<float>(*reinterpret_cast<double*>(end) - *reinterpret_cast<double*>(begin));
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime_v2(float* ms, CUevent begin, CUevent end) {
  return cuEventElapsedTime(ms, begin, end);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream) {
  if (state().capturing && state().mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    state().copied_in_strict_mode = true;
  std::memcpy(to, reinterpret_cast<const void*>(from), size);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream) {
  std::memcpy(reinterpret_cast<void*>(to), from, size);
  return CUDA_SUCCESS;
}
// It stands among the launches, in its place.
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  {
    const std::lock_guard lock(state().mutex);
    state().launches.push_back({"copy", {}, {}, 0, stream, {}, "cuMemcpyDtoDAsync"});
  }
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size) {
  return cuMemcpyDtoHAsync_v2(to, from, size, nullptr);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size) {
  return cuMemcpyHtoDAsync_v2(to, from, size, nullptr);
}
CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char value, size_t size) {
  std::memset(reinterpret_cast<void*>(at), value, size);
  return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr at) {
  for (const auto& [start, bytes] : state().memory) {
    if (at < start || at >= start + bytes.size()) continue;
    *base = start;
    *size = bytes.size();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

// --- graphs: chains of kernels ---
CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  auto& made = state().graphs.emplace_back(std::make_unique<fake::Graph>());
  *graph = reinterpret_cast<CUgraph>(made.get());
  return state().graph_result;
}
CUresult cuGraphDestroy(CUgraph) {
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec) {
  return CUDA_SUCCESS;
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* kernel) {
  auto& nodes = reinterpret_cast<fake::Graph*>(graph)->nodes;
  if (count > 1 || (count == 1 && reinterpret_cast<fake::Node*>(*before) != nodes.back().get()))
    return CUDA_ERROR_INVALID_VALUE; // no chain
  if (count == 1) nodes.back()->has_next = true;
  nodes.push_back(node_of(*kernel));
  *node = reinterpret_cast<CUgraphNode>(nodes.back().get());
  return state().graph_result;
}
CUresult cuGraphAddDependencies_v2(CUgraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edges, size_t count) {
  if (!state().programmatic_edges) return CUDA_ERROR_NOT_SUPPORTED;
  for (size_t n = 0; n < count; ++n) {
    reinterpret_cast<fake::Node*>(from[n])->has_next = true;
    reinterpret_cast<fake::Node*>(to[n])->ahead =
        edges[n].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  }
  return state().graph_result;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  count("cuGraphInstantiate");
  auto& made = *reinterpret_cast<fake::Graph*>(graph);
  for (const auto& node : made.nodes)
    if (!node->has_next && node != made.nodes.back()) return CUDA_ERROR_INVALID_VALUE; // no chain
  for (const auto& node : made.nodes)
    made.made.push_back(std::make_unique<fake::Node>(*node));
  *executable = reinterpret_cast<CUgraphExec>(graph);
  return state().graph_result;
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* kernel) {
  count("cuGraphExecKernelNodeSetParams");
  auto& graph = *reinterpret_cast<fake::Graph*>(executable);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].get() == reinterpret_cast<fake::Node*>(node))
      std::swap(graph.made[n]->values, node_of(*kernel)->values);
  return state().graph_result;
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  count("cuGraphLaunch");
  if (state().graph_result != CUDA_SUCCESS) return state().graph_result;
  for (const auto& node : reinterpret_cast<fake::Graph*>(executable)->made) {
    std::vector<void*> parameters;
    for (auto& value : node->values)
      parameters.push_back(value.data());
    const CUDA_KERNEL_NODE_PARAMS& k = node->kernel;
    launch("a node", k.func, {k.gridDimX, k.gridDimY, k.gridDimZ},
           {k.blockDimX, k.blockDimY, k.blockDimZ}, k.sharedMemBytes, stream, parameters.data(),
           nullptr, node->ahead);
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext) {
  count("cuCtxPushCurrent");
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return cuCtxGetCurrent(context);
}
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr at) {
  count("cuPointerGetAttribute");
  CUdeviceptr base = 0;
  size_t size = 0;
  if (cuMemGetAddressRange_v2(&base, &size, at) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID) {
    *static_cast<unsigned long long*>(value) = state().numbers[base];
    return CUDA_SUCCESS;
  }
  *static_cast<unsigned*>(value) =
      attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE  ? unsigned{CU_MEMORYTYPE_DEVICE}
      : attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED ? static_cast<unsigned>(state().managed)
                                                     : 0U;
  return CUDA_SUCCESS;
}
// As many arguments as a function of the driver has, of both kinds.
CUresult cuWithManyArguments(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
                             double x, double y, unsigned g) {
  count("cuWithManyArguments");
  return static_cast<CUresult>(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g +
                               static_cast<unsigned>(8 * x + 9 * y));
}

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  return cuGetProcAddress(name, function, version, flags);
}
CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  count("cuGetProcAddress");
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  const auto give = [&](auto* found) {
    *function = reinterpret_cast<void*>(found);
    return CUDA_SUCCESS;
  };
  if (is("cuLaunchKernel")) return give(per_thread ? cuLaunchKernel_ptsz : cuLaunchKernel);
  if (is("cuLaunchKernelEx")) return give(per_thread ? cuLaunchKernelEx_ptsz : cuLaunchKernelEx);
  if (is("cuLaunchCooperativeKernel")) return give(cuLaunchCooperativeKernel);
  if (is("cuModuleUnload")) return give(cuModuleUnload);
  if (is("cuMemcpyDtoDAsync")) return give(cuMemcpyDtoDAsync_v2);
  if (is("cuFuncGetName")) return give(cuFuncGetName);
  if (is("cuCtxSynchronize"))
    return version >= 13000 ? give(cuCtxSynchronize_v2) : give(cuCtxSynchronize);
  if (is("cuStreamSynchronize")) return give(cuStreamSynchronize);
  if (is("cuCtxGetCurrent")) return give(cuCtxGetCurrent);
  if (is("cuWithManyArguments")) return give(cuWithManyArguments);
  if (is("cuGetProcAddress"))
    return version >= 12000 ? give(cuGetProcAddress_v2) : give(cuGetProcAddress);
  if (const auto found = fake::images_by_name().find(name); found != fake::images_by_name().end()) {
    *function = found->second;
    return CUDA_SUCCESS;
  }
  *function = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

} // extern "C"
