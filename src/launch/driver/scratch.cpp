// Allocates what is not there yet.
#include "launch/driver/scratch.hpp"

#include "launch/log.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_buffers = 8;

} // namespace

bool ScratchBuffers::is_idle(const Buffer& buffer) {
  return !buffer.is_lent && buffer.last_use != nullptr &&
         driver().event_query(buffer.last_use) == CUDA_SUCCESS;
}

CUdeviceptr ScratchBuffers::find(CUstream stream, std::size_t bytes) {
  const Driver& d = driver();
  if (!d.stream_get_id || !d.ctx_get_current || !d.event_create || !d.event_record ||
      !d.event_query)
    return 0;
  const Relaxed relaxed; // another thread may be capturing
  CUcontext context = nullptr;
  unsigned long long number = 0; // of the stream
  if (d.ctx_get_current(&context) != CUDA_SUCCESS || context == nullptr ||
      d.stream_get_id(stream, &number) != CUDA_SUCCESS)
    return 0;
  std::erase_if(buffers_, [&](const Buffer& buffer) {
    return buffer.memory.context == context && !is_there(buffer.memory);
  });
  std::size_t largest = 0; // of the stream's own
  for (Buffer& buffer : buffers_) {
    if (buffer.memory.context != context) continue;
    const bool is_own = buffer.stream == number;
    if (is_own) largest = std::max(largest, buffer.memory.bytes);
    if (buffer.memory.bytes < bytes || (!is_own && !is_idle(buffer))) continue;
    buffer.stream = number;
    buffer.is_lent = true;
    return buffer.memory.at;
  }
  if (buffers_.size() >= most_buffers) return 0;
  // What grows does so again: twice as much, so that the smaller ones are few.
  auto made = allocate(std::max(bytes, 2 * largest));
  if (!made && 2 * largest > bytes) made = allocate(bytes);
  if (!made) return 0;
  log("%zu bytes are allocated for a fourth array", made->bytes);
  buffers_.push_back({.memory = *made, .stream = number, .is_lent = true});
  return made->at;
}

void ScratchBuffers::done(CUdeviceptr at, CUstream stream) {
  const auto found =
      std::ranges::find_if(buffers_, [&](const Buffer& buffer) { return buffer.memory.at == at; });
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
