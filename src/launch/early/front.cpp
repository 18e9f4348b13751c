// Remembers streams, and forgets them.
#include "launch/early/front.hpp"

#include "launch/kernels/shapes.hpp"
#include "launch/log.hpp"
#include "launch/waiting/direct_calls.hpp"
#include "launch/waiting/trampolines.hpp"

#include <string>

namespace ptxasw::launch {

// Where calls are not seen it is not asked again: that takes as long as a launch gains.
bool Front::may_be_known(CUstream stream) {
  if (is_capturing(stream)) return false;
  const std::string why = unseen_caller();
  if (why.empty()) return true;
  log("no launch begins early: %s", why.c_str());
  stop();
  return false;
}

bool Front::pass(CUstream stream, CUcontext context, bool waits) {
  if (stream == CU_STREAM_LEGACY) {
    if (any_.exchange(false))
      for (auto& slot : streams_)
        slot.store(nullptr, std::memory_order_relaxed);
    if (!waits || is_stopped_) {
      legacy_.store(nullptr);
      return false;
    }
    if (legacy_.load() == context) return true;
    legacy_.store(may_be_known(stream) ? context : nullptr);
  } else {
    if (legacy_.load(std::memory_order_relaxed) != nullptr) legacy_.store(nullptr);
    std::atomic<CUstream>& slot = slot_of(stream);
    if (!waits || is_stopped_ || stream == CU_STREAM_PER_THREAD) {
      forget(stream);
      return false;
    }
    if (slot.load(std::memory_order_acquire) == stream) return true;
    if (!may_be_known(stream)) return false;
    slot.store(stream, std::memory_order_release);
    if (!any_.load(std::memory_order_relaxed)) any_.store(true);
  }
  set_waiting(Waits::front, true);
  return false;
}

void Front::forget(CUstream stream) {
  if (stream == CU_STREAM_LEGACY) legacy_.store(nullptr);
  slot_of(stream).compare_exchange_strong(stream, nullptr);
}

void Front::forget_all() {
  set_waiting(Waits::front, false);
  legacy_.store(nullptr);
  any_.store(false);
  for (auto& slot : streams_)
    slot.store(nullptr, std::memory_order_relaxed);
}

} // namespace ptxasw::launch
