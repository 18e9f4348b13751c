// What a run of the harness is asked for, on which device, and how a case is launched.
#pragma once

#include "memory.hpp"
#include "plan.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace harness {

struct Settings {
  std::string mode, plan;
  std::size_t start = 0;
  std::set<std::string> exclude;
  std::uint64_t seed = std::random_device{}();
  double seconds = 1.0; // of timing per case
  double limit = 0;     // seconds after which no further case begins; 0 is none
  unsigned rounds = 101;
};

struct Device {
  CUdevice id = 0;
  std::string name;
  int driver = 0, sms = 0, l2 = 0, clock_khz = 0, threads_per_sm = 0;

  int attribute(CUdevice_attribute which) const {
    int value = 0;
    check(cuDeviceGetAttribute(&value, which, id), "cuDeviceGetAttribute");
    return value;
  }
  Device() {
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&id, 0), "cuDeviceGet");
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, id), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    char text[256] = {};
    check(cuDeviceGetName(text, sizeof text, id), "cuDeviceGetName");
    name = text;
    check(cuDriverGetVersion(&driver), "cuDriverGetVersion");
    sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    l2 = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  }
};

inline void launch(const Case& c, const Kernel& kernel, std::vector<std::uint64_t> values,
                   CUstream stream = nullptr) {
  std::vector<void*> pointers;
  for (std::uint64_t& value : values)
    pointers.push_back(&value);
  kernel.launch(c, pointers, stream);
}

inline void run_steps(const Case& c, const Kernel& kernel, const Arrays& arrays, unsigned steps) {
  for (unsigned step = 0; step < steps; ++step)
    launch(c, kernel, arrays.arguments(step));
}

inline bool excluded(const Settings& s, const Case& c, const Variant& v) {
  return s.exclude.count(c.name + ":" + v.name) != 0;
}

} // namespace harness
