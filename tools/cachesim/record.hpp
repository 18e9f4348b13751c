// The accesses of a launch, thread by thread, as the cache model wants them: runs the kernel on the
// CPU and writes down what it asks of global memory.
#pragma once

#include "cachesim/order.hpp"
#include "cachesim/stream.hpp"
#include "simt/machine.hpp"

namespace ptxasw::cachesim {

struct Recording {
  Stream stream; // by thread; numbers as in cachesim/order.hpp
  Threads threads;
};

// The launch's observer is replaced. An error is a message for people: the run failed, or it made
// more than `most` accesses.
tl::expected<Recording, std::string> record(const simt::Program& program, simt::Launch launch,
                                            simt::Memory& memory,
                                            std::uint64_t most = std::uint64_t{1} << 25);

} // namespace ptxasw::cachesim
