// Makes PTX kernels by the dozen: valid, free of races for the most part, and full of what shuffle
// and coarsening passes must be careful about. The same seed gives the same kernel everywhere.
//
// Every kernel is k(.param .u64 a, b, c, out; .param .u32 n, m): `a` and `b` are read, `c` is read
// and written in place, results go to slices of `out` that belong to one thread each.
#pragma once

#include <cstdint>
#include <string>

namespace ptxasw::fuzz {

std::string generate(std::uint64_t seed);

// The same with little but trees in shared memory and loops that march along a column.
std::string generate_trees(std::uint64_t seed);

} // namespace ptxasw::fuzz
