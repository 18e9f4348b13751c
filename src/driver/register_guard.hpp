// A rewritten kernel must still launch wherever the original did.
//
// A block of 1024 threads has 64 registers per thread; a kernel that uses more fails to launch in
// large blocks. Unless the kernel states its block size or register limit, in which case ptxas
// keeps to it, a rewritten kernel may use at most 64 registers, or as many as the original did. It
// must not need more stack or spill more either. What was used is read from `ptxas -v`.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

struct Usage {
  unsigned registers = 0;
  unsigned stack = 0, spill_stores = 0, spill_loads = 0; // bytes
  friend bool operator==(const Usage&, const Usage&) = default;
};
using UsageTable = std::map<std::string, Usage, std::less<>>;

// Reads what `ptxas -v` printed on stderr; kernels only.
UsageTable parse_statistics(std::string_view messages);

// What the guard may have to find out; each costs something and is asked only when it matters.
struct Questions {
  std::function<UsageTable()> before;                      // the original's usage
  std::function<bool(std::string_view kernel)> is_bounded; // states its block size
};

struct TakenBack {
  std::string kernel;
  Usage before, after;
};

// Those of the rewritten kernels that must be taken back. A kernel that ptxas did not compile (-e)
// needs no guard; a table that is empty although kernels changed tells nothing, and all go back.
std::vector<TakenBack> kernels_to_take_back(std::span<const std::string> changed,
                                            const UsageTable& after, const Questions& questions);

// Whether the kernel has .maxntid or .reqntid. (.maxnreg would not do: it may be more than 64.)
bool states_block_size(std::string_view ptx, std::string_view kernel);

} // namespace ptxasw::driver
