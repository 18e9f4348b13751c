// What the launcher costs a host: nanoseconds of a launch around it and through it, in turn.
//
//   nvcc -std=c++20 -O2 bench/gpu/launch_rate.cu -o launch_rate -lcuda
//   ptxasw launch -- ./launch_rate CUBIN KERNEL PARAMETERS [BLOCKS [THREADS [CUBIN...]]]
//
// Further cubins have the same kernel beside other things: what those cost, in the same bursts.
// All parameters are 0 (a size of 0 makes most kernels return at once). Bursts are short enough for
// the driver's queue, so that no launch waits for the device; the median of 100 bursts is printed.
#include "device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

using namespace harness;

namespace {

constexpr unsigned burst = 400, bursts = 100;

double nanoseconds(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < burst; ++n)
    call();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  check(cuCtxSynchronize(), "running");
  return taken.count() / burst;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    CUdevice device = 0;
    CUcontext context = nullptr;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    std::uint64_t zero = 0;
    std::vector<void*> parameters(std::strtoul(argv[3], nullptr, 10), &zero);
    const auto number = [&](int n) {
      return argc > n ? static_cast<unsigned>(std::strtoul(argv[n], nullptr, 10)) : 1;
    };
    const unsigned blocks = number(4), threads = argc > 5 ? number(5) : 32;
    struct Call {
      std::string name;
      std::function<void()> call;
      std::vector<double> taken;
    };
    std::vector<Call> calls;
    for (int n = 1; n < argc; n = std::max(n + 1, 6)) { // the first one, and those behind the sizes
      CUmodule module = nullptr;
      CUfunction kernel = nullptr;
      check(cuModuleLoad(&module, argv[n]), "cuModuleLoad");
      check(cuModuleGetFunction(&kernel, module, argv[2]), "cuModuleGetFunction");
      const auto through = [&](decltype(&cuLaunchKernel) launch) {
        return [=, &parameters] {
          launch(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters.data(), nullptr);
        };
      };
      const std::string of = n == 1 ? "" : std::string(" ") + argv[n];
      calls.push_back({"around" + of, through(launch_around_launchers()), {}});
      calls.push_back({"through" + of, through(&cuLaunchKernel), {}});
      calls.push_back({"around-again" + of, through(launch_around_launchers()), {}});
    }
    CUevent event = nullptr;
    check(cuEventCreate(&event, 0), "cuEventCreate");
    calls.push_back({"cuCtxGetCurrent",
                     [] {
                       CUcontext now = nullptr;
                       cuCtxGetCurrent(&now);
                     },
                     {}});
    calls.push_back({"cuStreamIsCapturing",
                     [] {
                       CUstreamCaptureStatus status{};
                       cuStreamIsCapturing(CU_STREAM_LEGACY, &status);
                     },
                     {}});
    calls.push_back({"cuEventRecord", [=] { cuEventRecord(event, nullptr); }, {}});
    calls.push_back({"cuEventQuery", [=] { cuEventQuery(event); }, {}});
    for (Call& one : calls)
      nanoseconds(one.call);
    for (unsigned n = 0; n < bursts; ++n)
      for (Call& one : calls)
        one.taken.push_back(nanoseconds(one.call));
    for (Call& one : calls)
      std::printf("%-40s %8.1f ns\n", one.name.c_str(), median(one.taken));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "launch_rate: %s\n", error.what());
    return 1;
  }
}
