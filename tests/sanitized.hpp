// Under a sanitizer everything takes many times as long, and memory is kept: what a test says of
// clocks and peaks does not hold there.
#pragma once

namespace ptxasw::test {

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

} // namespace ptxasw::test
