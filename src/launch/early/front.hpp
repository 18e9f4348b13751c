// What is in front of a launch in its stream, and whether the launch may begin before that has
// ended
// (passes/launch_early/PROOF.md says why an entry may).
//
// It may where both are entries that wait, one right behind the other: nothing else was asked of
// the driver for the stream in between. Any other call of the driver, from any thread, clears all
// that is known here (trampolines.hpp). On the legacy default stream a launch comes behind those of
// other streams, too, and those behind it: whoever of the two is launched clears the other.
//
// The driver is asked about a stream by the second launch of a row: one behind which the program
// waits gains nothing.
//
// Not on a thread's own default stream, whose handle is the same in all threads, nor in a capture:
// the edge of the graph would be of another kind, which the program can see (cuGraphGetEdges), and
// it may put a kernel there that does not wait. Nor where calls of the driver are not seen.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace ptxasw::launch {

class Front {
public:
  // May the launch of an entry to this stream of this context begin early? From now on it is what
  // is in front there. From any thread.
  bool pass(CUstream stream, CUcontext context, bool waits);
  // How many launches need not come here, where nothing is in front: of late none was behind
  // another one.
  [[nodiscard]] unsigned left_alone() const {
    const unsigned alone = alone_.load(std::memory_order_relaxed);
    return alone >= most_alone && alone % 2 == 0 ? left_alone_for : 0;
  }
  // Of one stream nothing is known.
  void forget(CUstream stream);
  // Nor of any.
  void forget_all();
  // No launch begins early any more.
  void stop() { is_stopped_ = true; }
  [[nodiscard]] bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

private:
  // Which stream, or of the legacy one which context, has an entry in front: the handle, one more
  // where the driver was asked about it, 0 for none. Handles are even.
  using InFront = std::atomic<std::uintptr_t>;
  InFront& slot_of(CUstream stream) {
    return streams_[reinterpret_cast<std::uintptr_t>(stream) / 64 % streams_.size()];
  }
  bool may_be_known(CUstream stream);
  bool is_behind(InFront& in_front, std::uintptr_t handle, CUstream stream);

  // Launches in a row that had none in front, before two of so many are looked at.
  static constexpr unsigned most_alone = 16, left_alone_for = 64;

  std::array<InFront, 16> streams_{};
  std::atomic<bool> any_{false}; // in some of them
  InFront legacy_{0};
  std::atomic<unsigned> alone_{0}; // launches that had none in front, in a row
  std::atomic<bool> is_stopped_{false};
};

} // namespace ptxasw::launch
