// Device memory of our own, which a context may take along without a word: an address may come
// again as another's, the number of an allocation does not.
#pragma once

#include "launch/driver/driver.hpp"

#include <cstddef>
#include <optional>

namespace ptxasw::launch {

struct Allocation {
  CUcontext context = nullptr;
  CUdeviceptr at = 0;
  std::size_t bytes = 0;
  unsigned long long number = 0;
};

// Of the allocation that has this address.
inline std::optional<unsigned long long> number_of(CUdeviceptr at) {
  unsigned long long number = 0;
  if (driver().pointer_get_attribute(&number, CU_POINTER_ATTRIBUTE_BUFFER_ID, at) != CUDA_SUCCESS)
    return std::nullopt;
  return number;
}

// In the context of the thread, for good: to free memory waits for the device, which may wait for
// the host. None where allocations have no numbers.
inline std::optional<Allocation> allocate(std::size_t bytes) {
  const Driver& d = driver();
  Allocation made{.bytes = bytes};
  if (!d.mem_alloc || !d.ctx_get_current || !d.pointer_get_attribute ||
      d.ctx_get_current(&made.context) != CUDA_SUCCESS ||
      d.mem_alloc(&made.at, bytes) != CUDA_SUCCESS)
    return std::nullopt;
  const auto number = number_of(made.at);
  if (!number) return std::nullopt;
  made.number = *number;
  return made;
}

// Asked in its context.
inline bool is_there(const Allocation& allocation) {
  return number_of(allocation.at) == allocation.number;
}

} // namespace ptxasw::launch
