// Memory of our own: the fourth array of steps whose three arrays rotate (contract/steps.hpp).
//
// Kept for later launches, one for each stream, since what two streams do is in no order. A stream
// or a context may go without a word, and its handle, or the memory's address, be another one's
// later: streams and allocations are known by numbers that the driver gives only once.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxasw::launch {

class FourthArrays {
public:
  // At least so many bytes, for launches to this stream in the context of the thread; 0: there is
  // no room. What a call before gave for the stream is gone if it was less.
  CUdeviceptr find(CUstream stream, std::size_t bytes);

private:
  struct Array {
    CUcontext context = nullptr;
    unsigned long long stream = 0, number = 0;
    std::uint64_t asked = 0; // when, last
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
  };
  static bool is_there(const Array& array);
  void make_room();
  std::vector<Array> arrays_;
  std::uint64_t asked_ = 0;
};

} // namespace ptxasw::launch
