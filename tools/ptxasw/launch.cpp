// Kernel, shape and arguments out of words.
#include "launch.hpp"

#include "nearest.hpp"
#include "ptx/parse.hpp"
#include "report/phrases.hpp"
#include "simt/args.hpp"

#include <fmt/ranges.h>

namespace ptxasw::tool {
namespace {

std::string only_kernel(const ptx::Module& module) {
  const std::vector<std::string> all = kernels_of(module);
  if (all.size() > 1) throw std::runtime_error("several kernels: name one with --kernel=NAME");
  return all.empty() ? "" : all.front();
}

} // namespace

std::vector<std::string> kernels_of(const ptx::Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions)
    if (f.is_entry && !f.is_declaration) names.emplace_back(f.name);
  return names;
}

std::string kernel_named(const ptx::Module& module, const std::string& name) {
  const std::vector<std::string> all = kernels_of(module);
  if (std::ranges::count(all, name) != 0) return name;
  std::vector<std::string> meant;
  for (const std::string& kernel : all)
    if (report::display_name(kernel) == name || report::demangled(kernel) == name)
      meant.push_back(kernel);
  if (meant.size() == 1) return meant.front();
  if (!meant.empty())
    throw InputError(fmt::format("{} kernels of {} are called {}; take one of: {}", meant.size(),
                                 module.file, name, fmt::join(meant, ", ")));
  std::vector<std::string> names = all;
  for (const std::string& kernel : all)
    names.push_back(report::display_name(kernel));
  const std::vector<std::string_view> views(names.begin(), names.end());
  throw InputError(
      fmt::format("there is no kernel {} in {}{}", name, module.file, did_you_mean(name, views)));
}

void add_launch_options(Parser& app, LaunchText& text) {
  app.add("INPUT", text.input, "PTX file; - is standard input", {.required = true});
  app.add("--kernel", text.kernel, "its name (the only one)");
  app.add("--grid", text.grid, "blocks, XxYxZ (1)");
  app.add("--arg", text.arguments,
          "one for each parameter: a number, zeros:BYTES, undefined:BYTES, "
          "iota:TYPE:COUNT,\nrandom:TYPE:COUNT:SEED[:BOUND], @FILE, "
          "same:ARGUMENT; buffers "
          "may be followed by +OFFSET");
  app.add("--shared", text.shared, "bytes of dynamic shared memory (0)");
  app.add("--steps", text.budget, "warp instructions, then the run is stopped (2^30)");
}

PreparedLaunch prepare(const LaunchText& text, std::string ptx, const Options& options) {
  const auto module = std::make_shared<const ptx::Module>(
      ptx::parse(std::move(ptx), text.input == "-" ? "<stdin>" : text.input));
  PreparedLaunch result;
  auto program = simt::compile(module, text.kernel.empty() ? only_kernel(*module)
                                                           : kernel_named(*module, text.kernel));
  if (!program) throw InputError(program.error());
  result.program = std::move(*program);
  simt::Launch& launch = result.launch;
  launch.grid = value_or_throw(simt::read_dim(text.grid));
  const auto block = options.block.value_or(std::array<std::uint32_t, 3>{32, 1, 1});
  launch.block = {block[0], block[1], block[2]};
  launch.dynamic_shared = text.shared;
  launch.arguments =
      value_or_throw(simt::make_arguments(*result.program, text.arguments, result.memory));
  launch.budget = text.budget;
  return result;
}

} // namespace ptxasw::tool
