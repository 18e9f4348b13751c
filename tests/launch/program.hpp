// A program with one module on the fake driver: a kernel that adds one to each of n numbers, and
// coarsened forms of it, as functions of the host.
#pragma once

#include "contract/contract.hpp"
#include "fake/fake.hpp"
#include "launch/engine/engine.hpp"
#include "launch/kernels/passing_variant.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

namespace ptxasw::launch::test {

inline contract::Contract contract_of(const std::string& kernel) {
  using contract::Kind;
  const std::vector<contract::Gain> two{{64, {0.9, 1, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2}}},
      four{{64, {0.7, 0.9, 1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5}}};
  return {.kernel = kernel,
          .code = 17,
          .parameters = 2,
          .parameter_bytes = 12,
          .variants = {{.entry = kernel, .name = "original"},
                       {.entry = kernel + "__ptxasw_x2",
                        .name = "x:2",
                        .kind = Kind::coarsened,
                        .divide = {2, 1, 1},
                        .rest = contract::Rest::hangs_over,
                        .gains = two},
                       {.entry = kernel + "__ptxasw_x4",
                        .name = "x:4",
                        .kind = Kind::coarsened,
                        .divide = {4, 1, 1},
                        .rest = contract::Rest::hangs_over,
                        .gains = four}}};
}

inline fake::Driver& gpu() {
  static auto* const found = [] {
    void* library = ::dlopen(PTXASW_FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    return reinterpret_cast<fake::Driver* (*)()>(real_dlsym(library, "fake_driver"))();
  }();
  return *found;
}

template <class Value> Value value_of(const std::vector<unsigned char>& bytes, std::size_t n = 0) {
  Value value{};
  std::memcpy(&value, bytes.data() + n * sizeof value, sizeof value);
  return value;
}

// Blocks of one thread for each number. Launches of several threads may race, as on a device.
[[gnu::no_sanitize("thread")]] inline void add_one(const fake::Launched& launched,
                                                   unsigned factor) {
  auto* const numbers = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launched.parameters[0]));
  const auto n = value_of<unsigned>(launched.parameters[1]);
  const unsigned blocks =
      factor == 1 ? launched.grid[0] : value_of<unsigned>(launched.parameters[2]);
  for (unsigned group = 0; group < launched.grid[0]; ++group)
    for (unsigned block = group * factor; block < (group + 1) * factor && block < blocks; ++block)
      for (unsigned thread = 0; thread < launched.block[0]; ++thread)
        if (block * launched.block[0] + thread < n) ++numbers[block * launched.block[0] + thread];
}

struct Program {
  fake::Module& module = gpu().add_module();
  fake::Function &kernel, &two, &four;
  std::vector<unsigned char>& memory;
  CUdeviceptr pointer;
  unsigned n = 5000;
  void* parameters[2] = {&pointer, &n};

  explicit Program(const std::string& name = "k", bool with_contract = true)
      : kernel(gpu().add(module, name, {8, 4})),
        two(gpu().add(module, name + "__ptxasw_x2", {8, 4, 12})),
        four(gpu().add(module, name + "__ptxasw_x4", {8, 4, 12})), memory(gpu().allocate(4 * 5000)),
        pointer(reinterpret_cast<CUdeviceptr>(memory.data())) {
    kernel.run = [](const auto& launched) { add_one(launched, 1); };
    two.run = [](const auto& launched) { add_one(launched, 2); };
    four.run = [](const auto& launched) { add_one(launched, 4); };
    if (with_contract)
      module.globals[contract::symbol_of(name)] = contract::encode(contract_of(name));
    gpu().launches.clear();
  }
  [[nodiscard]] CUfunction function() const { return reinterpret_cast<CUfunction>(&kernel); }
  [[nodiscard]] Request request(unsigned blocks = 50, unsigned threads = 100) {
    return {function(), {blocks, 1, 1}, {threads, 1, 1}, 0, CU_STREAM_LEGACY, parameters, nullptr};
  }
};

// The launches since the last call.
inline std::vector<fake::Launched> launched() {
  return std::exchange(gpu().launches, {});
}

// The driver's own launch, without hooks.
class Direct final : public Launch {
public:
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<Direct>();
  }
  CUresult ahead(const Request& r) const override { return launch_ahead(r); }
  CUresult operator()(const Request& r) const override {
    static auto* const real =
        driver_function<CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, CUstream, void**, void**)>("cuLaunchKernel");
    return real(r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
                r.shared, r.stream, r.parameters, r.extra);
  }
};
inline const Direct direct;

// Of a program that launches one kernel: launches that go by do not reach the engine.
class Passed final : public Launch {
public:
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<Direct>();
  }
  CUresult ahead(const Request& r) const override { return direct.ahead(r); }
  CUresult operator()(const Request& r) const override { return direct(r); }
  void pass_from_now_on(const Request&, std::uint64_t, std::uint64_t times) const override {
    told = left = times;
  }
  void pass_by_variant_from_now_on(const Request& r, std::uint64_t epoch, const VariantLaunch& made,
                                   CUcontext context, std::uint64_t times) const override {
    remember_variant(epoch, 0, r, made, context, times);
    told = left = times;
  }
  [[nodiscard]] std::uint64_t passed(const Request&) const override {
    return std::exchange(told, left) - left;
  }
  mutable std::uint64_t left = 0, told = 0; // so many more, of so many that nobody asked for
};

} // namespace ptxasw::launch::test
