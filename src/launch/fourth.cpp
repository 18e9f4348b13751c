// Allocates what is not there yet.
#include "launch/fourth.hpp"

#include "launch/driver.hpp"
#include "launch/log.hpp"

#include <algorithm>
#include <optional>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_arrays = 4; // streams that have one
// Times that others are asked for, after which a stream that is not may be gone: a program that
// takes a new stream for each loop. Fewer would free an array and wait for the device again and
// again where some streams take turns.
constexpr std::uint64_t long_ago = 16;

// Of the allocation that has this address; no other one ever has the same.
std::optional<unsigned long long> number_of(CUdeviceptr at) {
  unsigned long long number = 0;
  if (driver().pointer_get_attribute(&number, CU_POINTER_ATTRIBUTE_BUFFER_ID, at) != CUDA_SUCCESS)
    return std::nullopt;
  return number;
}

} // namespace

bool FourthArrays::is_there(const Array& array) {
  return number_of(array.at) == array.number;
}

void FourthArrays::make_room() {
  std::erase_if(arrays_, [](const Array& array) { return !is_there(array); });
  if (arrays_.size() < most_arrays) return;
  const auto oldest = std::ranges::min_element(arrays_, {}, &Array::asked);
  if (asked_ - oldest->asked < long_ago) return;
  driver().mem_free(oldest->at); // which waits for all who use it
  arrays_.erase(oldest);
}

CUdeviceptr FourthArrays::find(CUstream stream, std::size_t bytes) {
  const Driver& d = driver();
  if (!d.stream_get_id || !d.mem_alloc || !d.mem_free || !d.pointer_get_attribute ||
      !d.ctx_get_current)
    return 0;
  const Relaxed relaxed; // another thread may be capturing
  Array wanted{.asked = ++asked_, .bytes = bytes};
  if (d.ctx_get_current(&wanted.context) != CUDA_SUCCESS || wanted.context == nullptr ||
      d.stream_get_id(stream, &wanted.stream) != CUDA_SUCCESS)
    return 0;
  const auto same = [&](const Array& array) {
    return array.context == wanted.context && array.stream == wanted.stream;
  };
  if (const auto found = std::ranges::find_if(arrays_, same); found != arrays_.end()) {
    const bool is_known = is_there(*found);
    if (is_known && found->bytes >= bytes) {
      found->asked = asked_;
      return found->at;
    }
    if (is_known) d.mem_free(found->at);
    arrays_.erase(found);
  }
  if (arrays_.size() >= most_arrays) make_room();
  if (arrays_.size() >= most_arrays || d.mem_alloc(&wanted.at, bytes) != CUDA_SUCCESS) return 0;
  const auto number = number_of(wanted.at);
  if (!number) {
    d.mem_free(wanted.at);
    return 0;
  }
  wanted.number = *number;
  log("%zu bytes are allocated for a fourth array", bytes);
  arrays_.push_back(wanted);
  return wanted.at;
}

} // namespace ptxasw::launch
