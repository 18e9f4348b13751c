// Trees in shared memory, for the tests: sums of what the threads of a block have read.
#pragma once

#include "emulator/kernel_text.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace ptxasw::test {

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("not there: " + what);
  return text.replace(at, what.size(), by);
}

// In all places.
inline std::string all_replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// Each thread's word goes to tile[tid.x], and at the end tile[0] to every thread's word of `out`.
inline std::string tree(const std::string& rounds) {
  return kernel_text(R"(
    .shared .align 4 .b8 tile[8192];
    mov.u32 %r20, tile;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r23, [%rd4];
    shl.b32 %r22, %r3, 2;
    add.u32 %r21, %r20, %r22;
    st.shared.u32 [%r21], %r23;
    bar.sync 0; // first
)" + rounds + R"(
    ld.shared.u32 %r27, [tile];
    st.global.u32 [%rd5], %r27;
    ret;)");
}

// for (w = %ntid.x / 2; w != 0; w /= 2)
inline std::string looping() {
  return tree(R"(
    mov.u32 %r11, %ntid.x;
    shr.u32 %r12, %r11, 1;
    setp.eq.u32 %p1, %r12, 0;
    @%p1 bra DONE;
    LOOP:
    setp.ge.s32 %p2, %r3, %r12;
    @%p2 bra NEXT;
    shl.b32 %r28, %r12, 2;
    add.u32 %r29, %r21, %r28;
    ld.shared.u32 %r24, [%r21];
    ld.shared.u32 %r25, [%r29];
    add.u32 %r26, %r24, %r25;
    st.shared.u32 [%r21], %r26;
    NEXT: bar.sync 0;
    shr.u32 %r12, %r12, 1;
    setp.ne.u32 %p3, %r12, 0;
    @%p3 bra LOOP;
    DONE:)");
}

// Its sum is for thread 0 alone.
inline std::string for_thread_0(const std::string& text) {
  return replaced(replaced(text, "ld.shared.u32 %r27, [tile];",
                           "setp.ne.u32 %p5, %r3, 0;\n    @%p5 bra OUT;\n"
                           "    ld.shared.u32 %r27, [tile];"),
                  "    ret;", "    OUT: ret;");
}

inline std::string unrolled(const std::vector<unsigned>& widths) {
  std::string rounds;
  unsigned number = 0;
  for (const unsigned w : widths)
    rounds += fmt::format(R"(
    setp.gt.s32 %p2, %r3, {1};
    @%p2 bra L{0};
    ld.shared.u32 %r24, [%r21];
    ld.shared.u32 %r25, [%r21+{2}];
    add.u32 %r26, %r24, %r25;
    st.shared.u32 [%r21], %r26;
    L{0}: bar.sync 0;)",
                          number++, w - 1, 4 * w);
  return tree(rounds);
}

// for (w = 1; w < %ntid.x; w *= 2), where a thread adds what is w further on if its number is a
// multiple of 2 * w.
inline std::string neighbours() {
  return tree(R"(
    mov.u32 %r11, %ntid.x;
    setp.lt.u32 %p1, %r11, 2;
    @%p1 bra DONE;
    mov.u32 %r12, 1;
    LOOP:
    shl.b32 %r13, %r12, 1;
    rem.u32 %r14, %r3, %r13;
    setp.ne.u32 %p2, %r14, 0;
    @%p2 bra NEXT;
    shl.b32 %r28, %r12, 2;
    add.u32 %r29, %r21, %r28;
    ld.shared.u32 %r24, [%r21];
    ld.shared.u32 %r25, [%r29];
    add.u32 %r26, %r24, %r25;
    st.shared.u32 [%r21], %r26;
    NEXT: bar.sync 0;
    mov.u32 %r12, %r13;
    setp.lt.u32 %p3, %r12, %r11;
    @%p3 bra LOOP;
    DONE:)");
}

// The same, unrolled: widths that grow. `factor`: of the width, whose
// multiples the numbers of threads are that add.
inline std::string unrolled_neighbours(const std::vector<unsigned>& widths, unsigned factor = 2) {
  std::string rounds;
  unsigned number = 0;
  for (const unsigned w : widths)
    rounds += fmt::format(R"(
    and.b32 %r14, %r3, {1};
    setp.ne.u32 %p2, %r14, 0;
    @%p2 bra L{0};
    ld.shared.u32 %r24, [%r21];
    ld.shared.u32 %r25, [%r21+{2}];
    add.u32 %r26, %r24, %r25;
    st.shared.u32 [%r21], %r26;
    L{0}: bar.sync 0;)",
                          number++, factor * w - 1, 4 * w);
  return tree(rounds);
}

// A tree for each 32 threads, unrolled from width 16 on.
inline std::string segments() {
  std::string rounds = "\n    and.b32 %r14, %r3, 31;";
  for (unsigned w = 16; w != 0; w /= 2)
    rounds += fmt::format(R"(
    setp.ge.u32 %p2, %r14, {0};
    @%p2 bra L{0};
    ld.shared.u32 %r24, [%r21];
    ld.shared.u32 %r25, [%r21+{1}];
    add.u32 %r26, %r24, %r25;
    st.shared.u32 [%r21], %r26;
    L{0}: bar.sync 0;)",
                          w, 4 * w);
  return replaced(tree(rounds), "ld.shared.u32 %r27, [tile];",
                  "and.b32 %r44, %r22, -128;\nadd.u32 %r44, %r44, %r20;\n"
                  "ld.shared.u32 %r27, [%r44];");
}

// Each row of threads its own, so many words apart, and its own words.
inline std::string rows(unsigned words = 64) {
  std::string text = replaced(looping(), "shl.b32 %r22, %r3, 2;",
                              fmt::format("mad.lo.u32 %r22, %r46, {}, %r3;\n"
                                          "shl.b32 %r47, %r3, 2;\nshl.b32 %r22, %r22, 2;",
                                          words));
  text = replaced(text, "mul.wide.u32 %rd3, %r3, 4;",
                  "mov.u32 %r46, %tid.y;\nmov.u32 %r48, %ntid.x;\n"
                  "mad.lo.u32 %r45, %r46, %r48, %r3;\nmul.wide.u32 %rd3, %r45, 4;");
  return replaced(text, "ld.shared.u32 %r27, [tile];",
                  fmt::format("mad.lo.u32 %r44, %r46, {}, %r20;\n"
                              "ld.shared.u32 %r27, [%r44];",
                              4 * words));
}

// The largest word, and who had it: the indices are behind the words.
inline std::string largest() {
  std::string text = looping();
  text = replaced(text, "bar.sync 0; // first", "st.shared.u32 [%r21+4096], %r3;\nbar.sync 0;");
  text =
      replaced(text, "add.u32 %r26, %r24, %r25;", "setp.ge.u32 %p9, %r24, %r25;\n@%p9 bra NEXT;");
  text = replaced(text, "st.shared.u32 [%r21], %r26;",
                  "st.shared.u32 [%r21], %r25;\nld.shared.u32 %r26, [%r29+4096];\n"
                  "st.shared.u32 [%r21+4096], %r26;");
  return replaced(text, "ld.shared.u32 %r27, [tile];",
                  "ld.shared.u32 %r27, [tile];\nld.shared.u32 %r30, [tile+4096];\n"
                  "mad.lo.u32 %r27, %r30, 77, %r27;");
}

} // namespace ptxasw::test
