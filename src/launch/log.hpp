// Lines on standard error for PTXASW_LAUNCH=log, each written at once.
#pragma once

namespace ptxasw::launch {

void set_log(bool on);
[[gnu::format(printf, 1, 2)]] void log(const char* format, ...);
// Whether or not a log was asked for.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

} // namespace ptxasw::launch
