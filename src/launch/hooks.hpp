// What programs that are linked against libcuda find here before the driver's own (hooks.cpp).
#pragma once

namespace ptxasw::launch {

[[nodiscard]] bool is_exported(const char* name);

} // namespace ptxasw::launch
