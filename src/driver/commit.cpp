// A file of its own, as it is compiled anew with each commit.
#include "driver/commit.hpp"

namespace ptxasw::driver {

std::string_view commit() {
  return PTXASW_COMMIT;
}

} // namespace ptxasw::driver
