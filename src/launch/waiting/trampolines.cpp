// The stubs, in assembly, and the table of what stands behind them.
#include "launch/waiting/trampolines.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace {

constexpr std::size_t most_watched = 2048, stub_bytes = 16; // as in the text below

} // namespace

extern "C" {
std::atomic<unsigned char> ptxasw_waiting{0};
[[gnu::visibility("hidden")]] std::array<void*, most_watched> ptxasw_watched{};
[[gnu::visibility("hidden")]] extern const unsigned char ptxasw_stubs[];
}

// r10 and r11 are free at a call (System V ABI, x86-64). Six registers and eight vector registers
// hold arguments; al is for variadic functions, kept all the same.
asm(R"(
  .text
  .balign 16
  .hidden ptxasw_stubs
  .globl ptxasw_stubs
  .type ptxasw_stubs, @function
ptxasw_stubs:
  .set ptxasw_number, 0
  .rept 2048
  movl $ptxasw_number, %r11d
  jmp ptxasw_watch
  .balign 16
  .set ptxasw_number, ptxasw_number + 1
  .endr
  .size ptxasw_stubs, .-ptxasw_stubs

  .type ptxasw_watch, @function
ptxasw_watch:
  .cfi_startproc
  cmpb $0, ptxasw_waiting(%rip)
  jne 2f
1:
  leaq ptxasw_watched(%rip), %r10
  jmp *(%r10,%r11,8)
2:
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %rax
  push %r11
  sub $136, %rsp
  .cfi_adjust_cfa_offset 200
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  call ptxasw_make_waiting
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $136, %rsp
  pop %r11
  pop %rax
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  .cfi_adjust_cfa_offset -200
  jmp 1b
  .cfi_endproc
  .size ptxasw_watch, .-ptxasw_watch
)");

namespace ptxasw::launch {

void* watched(void* real) {
  static std::mutex mutex;
  static std::unordered_map<void*, std::size_t> known;
  const auto at = reinterpret_cast<std::uintptr_t>(real);
  const auto first = reinterpret_cast<std::uintptr_t>(&ptxasw_stubs[0]);
  if (at >= first && at < first + most_watched * stub_bytes) return real;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(real, known.size());
  if (found->second >= most_watched) return nullptr;
  if (is_new) ptxasw_watched.at(found->second) = real;
  return reinterpret_cast<void*>(first + found->second * stub_bytes);
}

bool tells_only(const char* name) {
  constexpr std::array begins{std::string_view("cuDeviceGet"),
                              std::string_view("cuCtxGet"),
                              std::string_view("cuGetError"),
                              std::string_view("cuDriverGetVersion"),
                              std::string_view("cuOccupancy"),
                              std::string_view("cuFuncGet"),
                              std::string_view("cuKernelGet"),
                              std::string_view("cuCtxSetCurrent"),
                              std::string_view("cuCtxPushCurrent"),
                              std::string_view("cuCtxPopCurrent"),
                              std::string_view("cuGetProcAddress"),
                              std::string_view("cuStreamIsCapturing"),
                              std::string_view("cuThreadExchangeStreamCaptureMode")};
  return std::ranges::any_of(
      begins, [&](std::string_view begin) { return std::string_view(name).starts_with(begin); });
}

void set_waiting(Waits why, bool waiting) {
  const auto bit = static_cast<unsigned char>(why);
  if (waiting == is_waiting(why)) return;
  if (waiting)
    ptxasw_waiting.fetch_or(bit, std::memory_order_release);
  else
    ptxasw_waiting.fetch_and(static_cast<unsigned char>(~bit), std::memory_order_release);
}

} // namespace ptxasw::launch
