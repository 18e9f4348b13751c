// A kernel and its launch as they stand on the command line of `ptxasw run` and of
// ptxasw-cachesim.
#pragma once

#include "command_line.hpp"
#include "ptx/module.hpp"
#include "simt/machine.hpp"

#include <stdexcept>

namespace ptxasw::tool {

struct LaunchText {
  std::string input, kernel, grid = "1";
  std::vector<std::string> arguments;
  std::uint32_t shared = 0;
  std::uint64_t budget = std::uint64_t{1} << 30;
};
// The kernels that are defined.
std::vector<std::string> kernels_of(const ptx::Module& module);
// The kernel that is meant by a name as it stands in the PTX or in its source: jacobi or
// jacobi(float*, int) for _Z6jacobiPfi. None, or several with one name in the source, are an
// InputError.
std::string kernel_named(const ptx::Module& module, const std::string& name);

void add_launch_options(Parser& app,
                        LaunchText& text); // --block is one of the optimizer's

struct PreparedLaunch {
  simt::ProgramPtr program;
  simt::Memory memory;
  simt::Launch launch;
};
// `ptx` is what text.input names, or a version of it. Throws
// std::runtime_error.
PreparedLaunch prepare(const LaunchText& text, std::string ptx, const Options& options);

template <class T> T value_or_throw(tl::expected<T, std::string> value) {
  if (!value) throw std::runtime_error(value.error());
  return std::move(*value);
}

} // namespace ptxasw::tool
