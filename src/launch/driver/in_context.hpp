// For calls on a thread that may have another context than the launches that it makes.
#pragma once

#include "launch/driver/driver.hpp"

namespace ptxasw::launch {

// Of this thread; null: it has none.
inline CUcontext current_context() {
  CUcontext context = nullptr;
  if (const auto get = driver().ctx_get_current; get != nullptr) get(&context);
  return context;
}

class InContext {
public:
  explicit InContext(CUcontext context) {
    CUcontext now = nullptr;
    driver().ctx_get_current(&now);
    pushed_ = now != context && driver().ctx_push(context) == CUDA_SUCCESS;
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  ~InContext() {
    CUcontext mine = nullptr;
    if (pushed_) driver().ctx_pop(&mine);
  }

private:
  bool pushed_ = false;
};

} // namespace ptxasw::launch
