// Where the real ptxas is, and never ourselves.
//
// Looked for in this order: $PTXASW_PTXAS; the name we were given as a prefix command
// (`ptxasw /opt/cuda/bin/ptxas ARGS`); ptxas.real and ptxas beside our own program; the toolkit of
// the nvcc that called us ($_HERE_, $TOP); PATH; $CUDA_HOME, $CUDA_PATH and the usual places. A
// candidate that is our own file is passed over. A copy of us, or a script that calls us back,
// cannot be told from the outside, so each run hands the files it has used to its child, which does
// not use them again.
#pragma once

#include "driver/environment.hpp"

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

// Set for our children: the files used so far, as DEVICE:INODE, separated by commas.
inline constexpr std::string_view tried_variable = "PTXASW_TRIED";

struct Search {
  std::string self;  // our own program file
  std::string named; // the ptxas named as the first argument, or nothing
};

// Every place to look at, best first, whether or not there is a file.
std::vector<std::string> ptxas_candidates(const Search& search, const Environment& environment);

// The first candidate that can be used. It is noted in the environment. The error is for people.
tl::expected<std::string, std::string> find_ptxas(const Search& search, Environment& environment);

// A program's path as a shell would find it; empty if there is none.
std::string find_in_path(const std::string& name, const Environment& environment);

} // namespace ptxasw::driver
