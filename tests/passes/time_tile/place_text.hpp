// Where a thread is, for bodies of test::kernel_text.
#pragma once

#include <string_view>

namespace ptxasw::test {

// %r10 = x, %r11 = y.
inline constexpr std::string_view places = R"(
mov.u32 %r4, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.s32 %r10, %r4, %r5, %r3;
mov.u32 %r6, %ctaid.y;
mov.u32 %r7, %ntid.y;
mov.u32 %r8, %tid.y;
mad.lo.s32 %r11, %r6, %r7, %r8;
)";

} // namespace ptxasw::test
