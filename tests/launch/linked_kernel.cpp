// The kernel of linked.cpp, a time step, on the fake driver.
#include "contract/contract.hpp"
#include "fake/fake.hpp"

#include <utility>

extern "C" CUfunction make_step_kernel() {
  using namespace ptxasw::contract;
  fake::Driver& gpu = *fake_driver();
  fake::Module& module = gpu.add_module();
  gpu.add(module, "s3", {8, 8, 12});
  const Contract contract{.kernel = "s",
                          .parameters = 2,
                          .parameter_bytes = 16,
                          .places = {{0, 8}, {8, 8}},
                          .variants = {{.entry = "s", .name = "original", .waits = true}},
                          .steps = {{.entry = "s3",
                                     .count = 3,
                                     .swaps = {{0, 1}},
                                     .block = {32, 1, 1},
                                     .covers = {32, 1, 1}}}};
  module.globals[symbol_of("s")] = encode(contract);
  return reinterpret_cast<CUfunction>(&gpu.add(module, "s", {8, 8}));
}

// Since the last call.
extern "C" unsigned launches() {
  return static_cast<unsigned>(std::exchange(fake_driver()->launches, {}).size());
}
