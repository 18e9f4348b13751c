// Allocates what is not there yet.
#include "launch/scratch.hpp"

#include "launch/driver.hpp"
#include "launch/log.hpp"

#include <algorithm>
#include <optional>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_buffers = 8;

// Of the allocation that has this address; no other one ever has the same.
std::optional<unsigned long long> number_of(CUdeviceptr at) {
  unsigned long long number = 0;
  if (driver().pointer_get_attribute(&number, CU_POINTER_ATTRIBUTE_BUFFER_ID, at) != CUDA_SUCCESS)
    return std::nullopt;
  return number;
}

} // namespace

bool ScratchBuffers::is_there(const Buffer& buffer) {
  return number_of(buffer.at) == buffer.number;
}

bool ScratchBuffers::is_idle(const Buffer& buffer) {
  return !buffer.is_lent && buffer.last_use != nullptr &&
         driver().event_query(buffer.last_use) == CUDA_SUCCESS;
}

bool ScratchBuffers::allocate(Buffer& buffer, std::size_t bytes) {
  const Driver& d = driver();
  if (cannot_tell_ || buffers_.size() >= most_buffers ||
      d.mem_alloc(&buffer.at, bytes) != CUDA_SUCCESS)
    return false;
  const auto number = number_of(buffer.at);
  if (!number) { // and to free it would wait for the device
    cannot_tell_ = true;
    return false;
  }
  buffer.number = *number;
  buffer.bytes = bytes;
  log("%zu bytes are allocated for a fourth array", bytes);
  return true;
}

CUdeviceptr ScratchBuffers::find(CUstream stream, std::size_t bytes) {
  const Driver& d = driver();
  if (!d.stream_get_id || !d.mem_alloc || !d.pointer_get_attribute || !d.ctx_get_current ||
      !d.event_create || !d.event_record || !d.event_query)
    return 0;
  const Relaxed relaxed; // another thread may be capturing
  Buffer wanted;
  if (d.ctx_get_current(&wanted.context) != CUDA_SUCCESS || wanted.context == nullptr ||
      d.stream_get_id(stream, &wanted.stream) != CUDA_SUCCESS)
    return 0;
  std::erase_if(buffers_, [&](const Buffer& buffer) {
    return buffer.context == wanted.context && !is_there(buffer);
  });
  std::size_t largest = 0; // of the stream's own
  for (Buffer& buffer : buffers_) {
    if (buffer.context != wanted.context) continue;
    const bool is_own = buffer.stream == wanted.stream;
    if (is_own) largest = std::max(largest, buffer.bytes);
    if (buffer.bytes < bytes || (!is_own && !is_idle(buffer))) continue;
    buffer.stream = wanted.stream;
    buffer.is_lent = true;
    return buffer.at;
  }
  // What grows does so again: twice as much, so that the smaller ones are few.
  if ((largest == 0 || !allocate(wanted, std::max(bytes, 2 * largest))) && !allocate(wanted, bytes))
    return 0;
  wanted.is_lent = true;
  buffers_.push_back(wanted);
  return wanted.at;
}

void ScratchBuffers::done(CUdeviceptr at, CUstream stream) {
  const auto found = std::ranges::find(buffers_, at, &Buffer::at);
  if (found == buffers_.end()) return;
  const Driver& d = driver();
  const Relaxed relaxed;
  if (found->last_use == nullptr &&
      d.event_create(&found->last_use, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    found->last_use = nullptr;
  found->is_lent =
      found->last_use == nullptr || d.event_record(found->last_use, stream) != CUDA_SUCCESS;
}

} // namespace ptxasw::launch
