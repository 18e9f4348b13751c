// A program of the driver API, linked against libcuda: loads the kernels of stencils.cu, says what
// it sees of them, and times their launches, in lines as those of bench/programs.
//
//   driver file FILE          cuModuleLoad of a fat binary
//   driver data FILE          cuModuleLoadData of one
//   driver library FILE       cuLibraryLoadData of one
//   driver link FILE          the cubin that the driver's linker makes of the PTX of FILE
//   driver nvrtc FILE         the PTX that NVRTC makes of the source (-DWITH_NVRTC)
//   driver nvrtc-cubin FILE   the cubin that it makes of it
//
// Behind FILE: the sizes of the planes, instead of 256, 2048 and 8192.
#include <cuda.h>
#ifdef WITH_NVRTC
#include <nvrtc.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name);
  std::exit(2);
}
#define CHECK(call) check(call, #call)

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string compiled(const std::string& source, bool to_cubin) {
#ifdef WITH_NVRTC
  nvrtcProgram program = nullptr;
  const char* const options[] = {to_cubin ? "-arch=sm_90" : "-arch=compute_90"};
  nvrtcCreateProgram(&program, source.c_str(), "stencils.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) std::exit(2);
  std::size_t size = 0;
  to_cubin ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size);
  std::string made(size, '\0');
  to_cubin ? nvrtcGetCUBIN(program, made.data()) : nvrtcGetPTX(program, made.data());
  return made;
#else
  std::printf("built without NVRTC: %zu bytes are not compiled%s\n", source.size(),
              to_cubin ? " to a cubin" : "");
  std::exit(2);
#endif
}

// As Numba and older CuPy do: the cubin is copied, and the link is ended.
std::string linked(std::string text) {
  CUlinkState link = nullptr;
  CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "text", 0, nullptr,
                      nullptr));
  void* made = nullptr;
  std::size_t size = 0;
  CHECK(cuLinkComplete(link, &made, &size));
  std::string cubin(static_cast<const char*>(made), size);
  CHECK(cuLinkDestroy(link));
  return cubin;
}

void tell(CUmodule module) {
  unsigned count = 0;
  CHECK(cuModuleGetFunctionCount(&count, module));
  std::vector<CUfunction> all(count);
  CHECK(cuModuleEnumerateFunctions(all.data(), count, module));
  std::vector<std::string> lines;
  for (CUfunction each : all) {
    const char* name = "";
    CHECK(cuFuncGetName(&name, each));
    CHECK(cuFuncLoad(each)); // some attributes are those of a function that is loaded
    std::string line = name;
    for (const auto attribute :
         {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
          CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
          CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_PTX_VERSION,
          CU_FUNC_ATTRIBUTE_BINARY_VERSION}) {
      int value = -1;
      CHECK(cuFuncGetAttribute(&value, attribute, each));
      line += ' ' + std::to_string(value);
    }
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::printf("%u functions\n", count);
  for (const std::string& line : lines)
    std::printf("%s\n", line.c_str());
  CUdeviceptr at = 0;
  std::size_t size = 0;
  const CUresult global = cuModuleGetGlobal(&at, &size, module, "__ptxasw_launch_box5");
  std::printf("another global: %d\n", static_cast<int>(global));
}

template <class T> void run(CUmodule module, const char* name, int w, int h) {
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, module, name));
  std::vector<T> host(static_cast<std::size_t>(w) * h);
  std::uint64_t state = 88172645463325252ULL;
  for (T& value : host) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<T>(static_cast<int>(state >> 40)) / 77;
  }
  const std::size_t bytes = host.size() * sizeof(T);
  CUdeviceptr in = 0, out = 0;
  CHECK(cuMemAlloc(&in, bytes));
  CHECK(cuMemAlloc(&out, bytes));
  CHECK(cuMemcpyHtoD(in, host.data(), bytes));
  CHECK(cuMemsetD8(out, 0xab, bytes));
  void* parameters[] = {&in, &out, &w, &h};
  const auto launch = [&] {
    CHECK(cuLaunchKernel(function, unsigned(w + 31) / 32, unsigned(h + 7) / 8, 1, 32, 8, 1, 0,
                         nullptr, parameters, nullptr));
  };
  launch();
  CHECK(cuMemcpyDtoH(host.data(), out, bytes));
  std::uint64_t digest = 1469598103934665603ULL;
  for (std::size_t n = 0; n < bytes; ++n)
    digest = (digest ^ reinterpret_cast<const unsigned char*>(host.data())[n]) * 1099511628211ULL;
  CUevent begin = nullptr, end = nullptr;
  CHECK(cuEventCreate(&begin, 0));
  CHECK(cuEventCreate(&end, 0));
  float best = 1e30F;
  for (int round = 0; round < 7; ++round) {
    CHECK(cuEventRecord(begin, nullptr));
    for (int n = 0; n < 20; ++n)
      launch();
    CHECK(cuEventRecord(end, nullptr));
    CHECK(cuEventSynchronize(end));
    float ms = 0;
    CHECK(cuEventElapsedTime(&ms, begin, end));
    best = std::min(best, ms);
  }
  std::printf("%-34s %-26s %016llx | %9.2f us\n", name,
              (std::to_string(w) + 'x' + std::to_string(h)).c_str(),
              static_cast<unsigned long long>(digest), best * 50);
  CHECK(cuMemFree(in));
  CHECK(cuMemFree(out));
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string how = argv[1];
  CHECK(cuInit(0));
  CUcontext context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  std::string image = content_of(argv[2]);
  if (how == "nvrtc" || how == "nvrtc-cubin") image = compiled(image, how == "nvrtc-cubin");
  if (how == "link") image = linked(image);
  if (how == "file") {
    CHECK(cuModuleLoad(&module, argv[2]));
  } else if (how == "library") {
    CUlibrary library = nullptr;
    CHECK(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    CHECK(cuLibraryGetKernelCount(&count, library));
    std::printf("%u kernels\n", count);
    CHECK(cuLibraryGetModule(&module, library));
  } else {
    CHECK(cuModuleLoadData(&module, image.data()));
  }
  std::fill(image.begin(), image.end(), '\0'); // the driver has its own
  tell(module);
  std::vector<int> sizes;
  for (int n = 3; n < argc; ++n)
    sizes.push_back(std::atoi(argv[n]));
  if (sizes.empty()) sizes = {256, 2048, 8192};
  for (const int size : sizes) {
    run<float>(module, "box5", size, size);
    run<double>(module, "cross", size, size);
  }
}
