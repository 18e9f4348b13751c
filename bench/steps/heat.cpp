// A host that merges the launches of a time step itself: a kernel of suite T on an n x n plane.
//
//   bench/steps/run [KERNEL [N [STEPS]]]
//
// prints the time of a step as single launches and merged, and whether both arrays are the same.
// KERNEL(in, out, nx, ny) is one of bench/kernels/iterated2d.cu; MODULE was written by
// `ptxasw opt --steps=auto`.
#include "ptxasw/steps.h"

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text == nullptr ? "?" : text);
  std::exit(1);
}

struct Heat {
  CUfunction single = nullptr, merged = nullptr;
  std::string contract;
  ptxasw::StepEntry entry;
  CUdeviceptr in = 0, out = 0;
  int n = 0;
  std::array<unsigned, 3> grid{}, block{32, 8, 1};

  void step() {
    void* parameters[] = {&in, &out, &n, &n};
    check(cuLaunchKernel(single, grid[0], grid[1], 1, block[0], block[1], 1, 0, nullptr, parameters,
                         nullptr),
          "launch");
    std::swap(in, out);
  }

  // As many steps at once as the entry does; false: they do not fit.
  bool many() {
    void* own[] = {&in, &out, &n, &n};
    ptxasw::StepFit fit = ptxasw::fit_steps(contract, entry, grid, block, own);
    if (!fit.why.empty()) {
      std::fprintf(stderr, "not merged: %s\n", fit.why.c_str());
      return false;
    }
    void* parameters[] = {&in, &out, &n, &n, fit.threads.data()};
    check(cuLaunchKernel(merged, fit.grid[0], fit.grid[1], fit.grid[2], fit.block[0], fit.block[1],
                         fit.block[2], 0, nullptr, parameters, nullptr),
          "launch of the entry");
    std::swap(in, out);
    return true;
  }

  void run(unsigned steps, bool merge) {
    while (merge && steps > entry.steps && many())
      steps -= entry.steps;
    while (steps-- > 0)
      step();
  }
};

std::vector<unsigned char> bytes_of(CUdeviceptr array, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  check(cuMemcpyDtoH(data.data(), array, bytes), "copy");
  return data;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: heat MODULE KERNEL [N [STEPS]]\n");
    return 2;
  }
  const std::string name = argv[2];
  const int n = argc > 3 ? std::atoi(argv[3]) : 2048;
  const auto steps = static_cast<unsigned>(argc > 4 ? std::atoi(argv[4]) : 200);
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "device");
  check(cuDevicePrimaryCtxRetain(&context, device), "context");
  check(cuCtxSetCurrent(context), "context");

  Heat heat;
  CUmodule module = nullptr;
  CUdeviceptr where = 0;
  std::size_t size = 0;
  check(cuModuleLoad(&module, argv[1]), "module");
  check(cuModuleGetFunction(&heat.single, module, name.c_str()), "kernel");
  check(cuModuleGetGlobal(&where, &size, module, ("__ptxasw_launch_" + name).c_str()), "contract");
  heat.contract.resize(size);
  check(cuMemcpyDtoH(heat.contract.data(), where, size), "contract");
  const auto entries = ptxasw::step_entries(heat.contract);
  if (entries.empty()) {
    std::fprintf(stderr, "%s is no time step\n", name.c_str());
    return 1;
  }
  heat.entry = entries[0];
  check(cuModuleGetFunction(&heat.merged, module, heat.entry.name.c_str()), "entry");

  const bool is_double = name.find("f64") != std::string::npos;
  const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n),
                    bytes = count * (is_double ? sizeof(double) : sizeof(float));
  std::vector<unsigned char> start(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(i * 2654435761U % 1048573) / 1048573;
    const auto narrow = static_cast<float>(value);
    if (is_double)
      std::memcpy(&start[i * sizeof value], &value, sizeof value);
    else
      std::memcpy(&start[i * sizeof narrow], &narrow, sizeof narrow);
  }
  heat.n = n;
  heat.grid = {(static_cast<unsigned>(n) + 31) / 32, (static_cast<unsigned>(n) + 7) / 8, 1};
  CUdeviceptr a = 0, b = 0;
  check(cuMemAlloc(&a, bytes), "memory");
  check(cuMemAlloc(&b, bytes), "memory");
  CUevent begin = nullptr, end = nullptr;
  check(cuEventCreate(&begin, 0), "event");
  check(cuEventCreate(&end, 0), "event");
  float milliseconds[2] = {};
  std::vector<unsigned char> left[2], right[2];
  for (const bool merge : {false, true}) {
    for (unsigned repeat = 0; repeat < 6; ++repeat) { // the last one counts, the others warm up
      check(cuMemcpyHtoD(a, start.data(), bytes), "copy");
      check(cuMemcpyHtoD(b, start.data(), bytes), "copy");
      heat.in = a;
      heat.out = b;
      check(cuEventRecord(begin, nullptr), "event");
      heat.run(steps, merge);
      check(cuEventRecord(end, nullptr), "event");
      check(cuEventSynchronize(end), "event");
      check(cuEventElapsedTime(&milliseconds[merge ? 1 : 0], begin, end), "event");
    }
    left[merge ? 1 : 0] = bytes_of(a, bytes);
    right[merge ? 1 : 0] = bytes_of(b, bytes);
  }
  const bool same = left[0] == left[1] && right[0] == right[1];
  std::printf("%s %d x %d, %u steps: %.5f ms a step, %u at once %.5f ms: %.2fx; arrays %s\n",
              name.c_str(), n, n, steps, milliseconds[0] / static_cast<float>(steps),
              heat.entry.steps, milliseconds[1] / static_cast<float>(steps),
              milliseconds[0] / milliseconds[1], same ? "equal" : "DIFFER");
  return same ? 0 : 1;
}
