// Under a sanitizer everything takes many times as long, and memory is kept: what a test says of
// clocks and peaks does not hold there.
#pragma once

namespace ptxasw::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

} // namespace ptxasw::test
