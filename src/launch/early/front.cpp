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

// Is the launch right behind one that waits? It is that one's place that it takes.
bool Front::is_behind(InFront& in_front, std::uintptr_t handle, CUstream stream) {
  std::uintptr_t found = in_front.load(std::memory_order_acquire);
  if (found == handle + 1) return true;
  if (found == handle) {
    alone_.store(0, std::memory_order_relaxed);
    if (may_be_known(stream) && in_front.compare_exchange_strong(found, handle + 1)) return true;
    in_front.store(0);
    return false;
  }
  alone_.fetch_add(1, std::memory_order_relaxed);
  in_front.store(handle);
  return false;
}

bool Front::pass(CUstream stream, CUcontext context, bool waits) {
  if (stream == CU_STREAM_LEGACY) {
    if (any_.exchange(false))
      for (auto& slot : streams_)
        slot.store(0, std::memory_order_relaxed);
    if (!waits || is_stopped_) {
      legacy_.store(0);
      return false;
    }
    if (is_behind(legacy_, reinterpret_cast<std::uintptr_t>(context), stream)) return true;
  } else {
    if (legacy_.load(std::memory_order_relaxed) != 0) legacy_.store(0);
    if (!waits || is_stopped_ || stream == CU_STREAM_PER_THREAD) {
      forget(stream);
      return false;
    }
    if (is_behind(slot_of(stream), reinterpret_cast<std::uintptr_t>(stream), stream)) return true;
    if (!any_.load(std::memory_order_relaxed)) any_.store(true);
  }
  set_waiting(Waits::front, true);
  return false;
}

void Front::forget(CUstream stream) {
  if (stream == CU_STREAM_LEGACY) legacy_.store(0);
  InFront& slot = slot_of(stream);
  std::uintptr_t found = slot.load();
  while ((found & ~std::uintptr_t{1}) == reinterpret_cast<std::uintptr_t>(stream) &&
         !slot.compare_exchange_weak(found, 0)) {
  }
}

void Front::forget_all() {
  set_waiting(Waits::front, false);
  legacy_.store(0);
  if (any_.exchange(false))
    for (auto& slot : streams_)
      slot.store(0, std::memory_order_relaxed);
}

} // namespace ptxasw::launch
