// Which loops may wait for another thread: one small kernel for each way to do it, and for what
// looks like it.
#include "passes/shared/waiting.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw {
namespace {

using test::Emulated;
using test::kernel_text;
using ::testing::HasSubstr;

std::string why(const std::string& body) {
  const Emulated emulated(
      kernel_text(".shared .align 4 .b8 s[256];\n" + body + "\nst.global.u32 [%rd2], %r9;\nret;"));
  return passes::why_it_waits(emulated.kernel);
}

TEST(Waiting, LoopsThatDo) {
  for (const char* code : {
           // A flag: volatile, acquired, past the first cache, of the block.
           "L:\nld.volatile.global.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.acquire.gpu.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.cg.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           // For one use of it, or without a place in it.
           "L:\nld.global.lu.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.cs.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.L1::no_allocate.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.L1::no_allocate.L2::128B.u32 %r9, [%rd1];\n"
           "setp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.L1::evict_first.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.volatile.shared.u32 %r9, [s];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           // A plain load beside something that has it done anew.
           "L:\nmembar.gl;\nld.global.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nred.global.add.u32 [%rd2], 1;\nld.global.u32 %r9, [%rd1];\n"
           "setp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           // A spin lock, a ticket.
           "L:\natom.global.cas.b32 %r9, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r9, 0;\n@%p1 bra L;\n"
           "membar.gl;\natom.global.exch.b32 %r9, [%rd1], 0;",
           "atom.global.add.u32 %r8, [%rd1], 1;\nL:\nld.volatile.global.u32 %r9, [%rd1+4];\n"
           "setp.ne.u32 %p1, %r9, %r8;\n@%p1 bra L;",
           // A lock that each thread asks for until it is done, with its work inside.
           "mov.u32 %r8, 0;\nL:\natom.global.cas.b32 %r9, [%rd1], 0, 1;\n"
           "setp.ne.u32 %p1, %r9, 0;\n@%p1 bra M;\nst.global.u32 [%rd2+4], %r3;\n"
           "atom.global.exch.b32 %r9, [%rd1], 0;\nmov.u32 %r8, 1;\nM:\nsetp.eq.u32 %p2, %r8, 0;\n"
           "@%p2 bra L;",
           // Look-back: it goes on where there is news.
           "mov.u32 %r8, %r1;\nL:\nld.volatile.global.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n"
           "@%p1 bra L;\nsub.u32 %r8, %r8, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra L;",
           "mov.u32 %r8, %r1;\nL:\nsetp.eq.u32 %p2, %r8, 0;\n@%p2 bra M;\n"
           "ld.volatile.global.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;\n"
           "sub.u32 %r8, %r8, 1;\nbra L;\nM:",
           // By way of memory, a guard, a choice.
           "L:\nld.volatile.global.u32 %r9, [%rd1];\nst.shared.u32 [s], %r9;\nbar.sync 0;\n"
           "ld.shared.u32 %r8, [s];\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra L;",
           "mov.u32 %r8, 0;\nL:\nld.volatile.global.u32 %r9, [%rd1];\nsetp.ne.u32 %p1, %r9, 0;\n"
           "@%p1 mov.u32 %r8, 1;\nsetp.eq.u32 %p2, %r8, 0;\n@%p2 bra L;",
           // In a loop of its own or around it.
           "mov.u32 %r8, 0;\nK:\nL:\nld.volatile.global.u32 %r9, [%rd1];\n"
           "setp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;\nadd.u32 %r8, %r8, 1;\n"
           "setp.lt.u32 %p2, %r8, 4;\n@%p2 bra K;",
           // It leaves the thread, or does not.
           "L:\nld.volatile.global.u32 %r9, [%rd1];\nsetp.ne.u32 %p1, %r9, 0;\n@%p1 ret;\nbra L;",
           // A cycle with two ways in.
           "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra M;\nL:\nld.volatile.global.u32 %r9, [%rd1];\nM:\n"
           "setp.eq.u32 %p2, %r9, 0;\n@%p2 bra L;",
       })
    EXPECT_THAT(why(code), HasSubstr("may wait for what another thread stores")) << code;
}

TEST(Waiting, LoopsThatDoNot) {
  for (const char* code : {
           // Asked for once, outside of the loop.
           "atom.global.add.u32 %r8, [%rd1], 1;\nmov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\n"
           "setp.lt.u32 %p1, %r9, %r8;\n@%p1 bra L;",
           "ld.volatile.global.u32 %r8, [%rd1];\nmembar.gl;\nsetp.eq.u32 %p1, %r8, 0;\n"
           "@%p1 bra L;\nmov.u32 %r9, 1;\nL:",
           // A histogram; one that asks which value to count.
           "mov.u32 %r9, %r3;\nL:\nmul.wide.u32 %rd3, %r9, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
           "ld.global.u32 %r8, [%rd3];\nmul.wide.u32 %rd4, %r8, 4;\nadd.s64 %rd4, %rd2, %rd4;\n"
           "red.global.add.u32 [%rd4], 1;\nadd.u32 %r9, %r9, 256;\nsetp.lt.u32 %p1, %r9, %r1;\n"
           "@%p1 bra L;",
           "mov.u32 %r9, 0;\nL:\nld.global.u32 %r8, [%rd1];\nsetp.eq.u32 %p2, %r8, 0;\n"
           "@%p2 bra M;\nred.global.add.u32 [%rd2+8], 1;\nM:\nadd.u32 %r9, %r9, 1;\n"
           "setp.lt.u32 %p1, %r9, %r1;\n@%p1 bra L;",
           // Appended to a queue.
           "mov.u32 %r9, 0;\nL:\natom.global.add.u32 %r8, [%rd1], 1;\nmul.wide.u32 %rd4, %r8, 4;\n"
           "add.s64 %rd4, %rd2, %rd4;\nst.global.u32 [%rd4], %r3;\nadd.u32 %r9, %r9, 1;\n"
           "setp.lt.u32 %p1, %r9, %r1;\n@%p1 bra L;",
           // A plain load, of its own or of read-only memory.
           "L:\nld.global.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.ca.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.L1::evict_last.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nld.global.L2::128B.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           // Read-only memory.
           "L:\nld.global.nc.L1::no_allocate.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra "
           "L;",
           "L:\nmembar.gl;\nld.global.nc.u32 %r9, [%rd1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
           "L:\nbar.sync 0;\nld.shared.u32 %r9, [s];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra L;",
       })
    EXPECT_EQ(why(code), "") << code;
}

} // namespace
} // namespace ptxasw
