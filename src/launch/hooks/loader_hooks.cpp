// Where the launcher stands between a program and what loads libraries: dlopen and dlmopen.
#include "launch/engine/engine.hpp"
#include "launch/waiting/trampolines.hpp"

#include <cstring>
#include <dlfcn.h>

using namespace ptxasw::launch;

extern "C" {

// Loads files, which may call the driver without our seeing it: what waits is made first. Those in
// a namespace of their own nobody can go through.
[[gnu::visibility("hidden")]] void* ptxasw_real_loader(const char* name) {
  if (is_waiting()) engine()->flush();
  if (std::strcmp(name, "dlmopen") == 0)
    if (Engine* const launcher = engine()) launcher->lose_sight("dlmopen was called");
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.3.4"})
    if (found == nullptr) found = ::dlvsym(RTLD_NEXT, name, version);
  return found;
}

// Jumps, as dlsym is one (hooks.cpp): the C library has to see who called (RUNPATH).
asm(R"(
  .section .rodata
ptxasw_dlopen: .string "dlopen"
ptxasw_dlmopen: .string "dlmopen"
  .text
  .macro ptxasw_loads name
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  push %rdi
  push %rsi
  push %rdx
  .cfi_adjust_cfa_offset 24
  leaq ptxasw_\name(%rip), %rdi
  call ptxasw_real_loader
  pop %rdx
  pop %rsi
  pop %rdi
  .cfi_adjust_cfa_offset -24
  jmp *%rax
  .cfi_endproc
  .size \name, .-\name
  .endm
  ptxasw_loads dlopen
  ptxasw_loads dlmopen
)");

} // extern "C"
