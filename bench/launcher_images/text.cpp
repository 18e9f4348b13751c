// What the driver makes of a PTX text: loads it, so that the driver's cache has it, and has it
// linked.
//
//   text TEXT CUBIN   CUBIN: what the driver's linker makes
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "";
  cuGetErrorName(result, &name);
  std::printf("%s: %s\n", what, name);
  std::exit(2);
}
#define CHECK(call) check(call, #call)

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(cuInit(0));
  CUcontext context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, text.c_str()));
  CUlinkState link = nullptr;
  CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "text", 0, nullptr,
                      nullptr));
  void* cubin = nullptr;
  std::size_t size = 0;
  CHECK(cuLinkComplete(link, &cubin, &size));
  std::ofstream(argv[2], std::ios::binary).write(static_cast<const char*>(cubin), size);
  int version = 0;
  CHECK(cuDriverGetVersion(&version));
  std::printf("driver for CUDA %d.%d\n", version / 1000, version % 1000 / 10);
}
