// The library's own code, mapped before it is needed.
#pragma once

namespace ptxasw::launch {

// Maps all pages of this library, which takes about 0.1 ms. Otherwise each page is mapped when it
// is first used, by the first launch: reading a contract for the first time took five times as long
// as the second time on a virtual machine, half a millisecond. Does nothing where the system cannot
// (Linux before 5.14).
void map_own_pages();

} // namespace ptxasw::launch
