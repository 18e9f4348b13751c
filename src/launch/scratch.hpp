// Memory of our own: the fourth array of steps whose three arrays rotate (contract/steps.hpp).
//
// A buffer belongs to the stream that it was last given to, since what two streams do is in no
// order; another stream has it when an event behind its last use has come. Nothing is ever freed:
// that waits for the device, which may wait for the host. A stream or a context may go without a
// word, and its handle, or the memory's address, be another one's later: streams and allocations
// are known by numbers that the driver gives only once.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

namespace ptxasw::launch {

class ScratchBuffers {
public:
  // At least so many bytes, for launches to this stream in the context of the thread, until they
  // are done(); 0: there is no room. What a call before gave for the stream may be given again.
  CUdeviceptr find(CUstream stream, std::size_t bytes);
  // The last launch that uses it was made.
  void done(CUdeviceptr buffer, CUstream stream);

private:
  struct Buffer {
    CUcontext context = nullptr;
    unsigned long long stream = 0, number = 0;
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
    CUevent last_use = nullptr;
    bool is_lent = false; // no event is behind its last use yet
  };
  static bool is_there(const Buffer& buffer);
  static bool is_idle(const Buffer& buffer);
  bool allocate(Buffer& buffer, std::size_t bytes);
  std::vector<Buffer> buffers_;
  bool cannot_tell_ = false; // which allocation an address is of
};

} // namespace ptxasw::launch
