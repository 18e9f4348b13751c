// Thin owners of driver API objects, and the three device kernels the harness itself needs: fill
// with random or fixed words, and compare.
#pragma once

#include "plan.hpp"
#include "words.hpp"

#include <cuda.h>

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace harness {

struct DriverError : std::runtime_error {
  CUresult code;
  DriverError(CUresult c, const std::string& what) : std::runtime_error(what), code(c) {}
};

inline void check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  throw DriverError(code, std::string(what) + ": " + (name ? name : "unknown error"));
}

class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    check(cuMemAlloc(&at_, bytes), "cuMemAlloc");
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (at_) cuMemFree(at_);
  }
  CUdeviceptr at() const { return at_; }
  std::size_t bytes() const { return bytes_; }

private:
  void swap(Buffer& other) {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
  }
  CUdeviceptr at_ = 0;
  std::size_t bytes_ = 0;
};

class Event {
public:
  Event() { check(cuEventCreate(&event_, CU_EVENT_DEFAULT), "cuEventCreate"); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_) cuEventDestroy(event_);
  }
  void record() const { check(cuEventRecord(event_, nullptr), "cuEventRecord"); }
  double microseconds_since(const Event& start) const {
    float ms = 0;
    check(cuEventElapsedTime(&ms, start.event_, event_), "cuEventElapsedTime");
    return 1000.0 * ms;
  }

private:
  CUevent event_ = nullptr;
};

// The driver's own, whatever library is preloaded: those replace dlsym too, but not dlvsym.
inline decltype(&cuLaunchKernel) launch_around_launchers() {
  using Dlsym = void* (*)(void*, const char*);
  static const auto found = [] {
    const auto plain = reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
    void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    void* const launch = plain && driver ? plain(driver, "cuLaunchKernel") : nullptr;
    return launch ? reinterpret_cast<decltype(&cuLaunchKernel)>(launch) : &cuLaunchKernel;
  }();
  return found;
}

// Blocks along an axis whose groups of `by` have one each; those that fill no group have one of
// their own, or one for all.
constexpr unsigned divided(unsigned blocks, unsigned by, bool rest_by_itself) {
  return blocks / by + (rest_by_itself ? blocks % by : (blocks % by != 0 ? 1 : 0));
}

class Kernel {
public:
  Kernel(const Variant& variant, const Case& c)
      : grid_(c.grid), takes_grid_(variant.how == "grid" || variant.how == "rest"),
        launch_(variant.how == "launcher" ? &cuLaunchKernel : launch_around_launchers()) {
    check(cuModuleLoad(&module_, variant.cubin.c_str()), ("cuModuleLoad " + variant.cubin).c_str());
    const std::string& entry = variant.entry.empty() ? c.entry : variant.entry;
    check(cuModuleGetFunction(&function_, module_, entry.c_str()), "cuModuleGetFunction");
    for (unsigned axis = 0; axis < 3; ++axis)
      grid_[axis] = divided(grid_[axis], variant.divided[axis], variant.how == "rest");
  }
  Kernel(Kernel&& other) noexcept
      : module_(std::exchange(other.module_, nullptr)), function_(other.function_),
        grid_(other.grid_), takes_grid_(other.takes_grid_), launch_(other.launch_) {}
  Kernel& operator=(Kernel&&) = delete;
  ~Kernel() {
    if (module_) cuModuleUnload(module_);
  }
  CUfunction function() const { return function_; }
  const std::array<unsigned, 3>& grid() const { return grid_; }
  bool through_launcher() const { return launch_ == &cuLaunchKernel; }
  // `parameters` has room for one more.
  void launch(const Case& c, std::vector<void*>& parameters, CUstream stream) const {
    std::array<unsigned, 3> original = c.grid;
    if (takes_grid_) parameters.push_back(original.data());
    check(launch_(function_, grid_[0], grid_[1], grid_[2], c.block[0], c.block[1], c.block[2], 0,
                  stream, parameters.data(), nullptr),
          "cuLaunchKernel");
  }
  int attribute(CUfunction_attribute which) const {
    int value = 0;
    check(cuFuncGetAttribute(&value, which, function_), "cuFuncGetAttribute");
    return value;
  }

private:
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  std::array<unsigned, 3> grid_;
  bool takes_grid_;
  decltype(&cuLaunchKernel) launch_;
};

// Elements [0, count) of `to` get their words.
static __global__ void fill_words(std::uint32_t* to, std::uint64_t count, Pattern pattern,
                                  std::uint64_t seed, std::uint64_t limit) {
  const std::uint64_t stride = std::uint64_t(gridDim.x) * blockDim.x;
  for (std::uint64_t i = std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const std::uint64_t value = element(pattern, seed, limit, i);
    if (element_bytes(pattern) == 8)
      reinterpret_cast<std::uint64_t*>(to)[i] = value;
    else
      to[i] = static_cast<std::uint32_t>(value);
  }
}

// Words first .. first+count-1 of a region whose word 0 is `zero` get a * k + b (mod m).
static __global__ void fill_line(std::int32_t* zero, std::int64_t first, std::int64_t count,
                                 std::int64_t a, std::int64_t b, std::int64_t m) {
  for (std::int64_t n = blockIdx.x * blockDim.x + threadIdx.x; n < count;
       n += std::int64_t(gridDim.x) * blockDim.x) {
    const std::int64_t value = a * (first + n) + b;
    zero[first + n] = static_cast<std::int32_t>(m ? value % m : value);
  }
}

// result[0] += number of words that differ, result[1] = index of the first.
static __global__ void compare_words(const std::uint32_t* x, const std::uint32_t* y,
                                     std::uint64_t count, unsigned long long* result) {
  const std::uint64_t stride = std::uint64_t(gridDim.x) * blockDim.x;
  for (std::uint64_t i = std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if (x[i] != y[i]) {
      atomicAdd(&result[0], 1ull);
      atomicMin(&result[1], static_cast<unsigned long long>(i));
    }
  }
}

} // namespace harness
