// Kernels that store to shared memory and load what they have stored, for the tests.
#pragma once

#include "emulator/kernel_text.hpp"

#include <string>

namespace ptxasw::test {

// %r21 = tile + 4 * %tid.x; %r10 is the thread's word of `in`.
inline constexpr const char* own_element = R"(
    .shared .align 16 .b8 tile[8192];
    .shared .align 16 .b8 other[8192];
    mov.u32 %r4, %tid.y;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r10, [%rd4];
    mov.u32 %r20, tile;
    shl.b32 %r22, %r3, 2;
    add.u32 %r21, %r20, %r22;
    mov.u32 %r23, other;
    add.u32 %r24, %r23, %r22;
)";

inline std::string own(const std::string& body) {
  return kernel_text(own_element + body + R"(
    st.global.u32 [%rd5], %r11;
    ret;)");
}

// A tile of 34 words by 10 with a rim, for blocks of 32 by 8; what is loaded is the thread's own
// element and its four neighbours.
inline std::string tile_with_rim(const std::string& between = "") {
  return kernel_text(R"(
    .shared .align 4 .b8 tile[1360];
    mov.u32 %r4, %tid.y;
    mov.u32 %r5, %ntid.x;
    mad.lo.s32 %r6, %r4, %r5, %r3;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r10, [%rd4];
    mov.u32 %r20, tile;
    mad.lo.s32 %r21, %r4, 136, %r20;
    shl.b32 %r22, %r3, 2;
    add.u32 %r23, %r21, %r22;
    st.shared.u32 [%r23+140], %r10;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra R;
    ld.global.u32 %r11, [%rd4+-4];
    st.shared.u32 [%r21+136], %r11;
R:  setp.ne.u32 %p1, %r3, 31;
    @%p1 bra T;
    ld.global.u32 %r11, [%rd4+4];
    st.shared.u32 [%r21+268], %r11;
T:  setp.ne.u32 %p1, %r4, 0;
    @%p1 bra B;
    ld.global.u32 %r11, [%rd4+-64];
    add.u32 %r24, %r20, %r22;
    st.shared.u32 [%r24+4], %r11;
B:  setp.ne.u32 %p1, %r4, 7;
    @%p1 bra D;
    ld.global.u32 %r11, [%rd4+64];
    add.u32 %r24, %r20, %r22;
    st.shared.u32 [%r24+1228], %r11;
D:  bar.sync 0;
)" + between + R"(
    ld.shared.u32 %r30, [%r23+140];
    ld.shared.u32 %r31, [%r23+136];
    ld.shared.u32 %r32, [%r23+144];
    ld.shared.u32 %r33, [%r23+4];
    ld.shared.u32 %r34, [%r23+276];
    mul.lo.u32 %r30, %r30, 5;
    sub.u32 %r30, %r30, %r31;
    sub.u32 %r30, %r30, %r32;
    sub.u32 %r30, %r30, %r33;
    sub.u32 %r30, %r30, %r34;
    st.global.u32 [%rd5], %r30;
    ret;)");
}

} // namespace ptxasw::test
