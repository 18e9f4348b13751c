// Memory of our own: the fourth array of steps whose three arrays rotate (contract/steps.hpp).
//
// A buffer belongs to the stream that it was last given to, since what two streams do is in no
// order; another stream has it when an event behind its last use has come. A stream may go without
// a word, and its handle be another one's later: streams are known by the number that the driver
// gives only once.
#pragma once

#include "launch/driver/allocation.hpp"

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
    Allocation memory;
    unsigned long long stream = 0;
    CUevent last_use = nullptr;
    bool is_lent = false; // no event is behind its last use yet
  };
  static bool is_idle(const Buffer& buffer);
  std::vector<Buffer> buffers_;
};

} // namespace ptxasw::launch
