// What `ptxas -v` printed for two kernels and a function, as it was recorded; the last lines by a
// ptxas of another name.
#pragma once

#include <string_view>

namespace ptxasw::test {

inline constexpr std::string_view ptxas_messages = R"(ptxas info    : 2 bytes gmem, 72 bytes cmem[4]
ptxas info    : Overriding maximum register limit 256 for 'k3' with  32 of maxrregcount option
ptxas info    : Compiling entry function '_Z2k3Pdi' for 'sm_90'
ptxas info    : Function properties for _Z2k3Pdi
    280 bytes stack frame, 568 bytes spill stores, 564 bytes spill loads
ptxas info    : Used 64 registers, used 0 barriers, 280 bytes cumulative stack size
ptxas info    : Compile time = 18.211 ms
ptxas info    : Function properties for _Z1gf
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
foo info    : Compiling entry function '_Z2k1Pfi' for 'sm_90'
foo info    : Function properties for _Z2k1Pfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
foo info    : Used 46 registers, 400 bytes cmem[0]
ptxas warning : Registers are spilled to local memory in function '_Z2k3Pdi'
)";

} // namespace ptxasw::test
