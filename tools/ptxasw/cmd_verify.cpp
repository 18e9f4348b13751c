// ptxasw verify: are two PTX files, or a file and what the optimizer makes of it, the same?
#include "options.hpp"

#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "simt/args.hpp"
#include "simt/verify.hpp"

#include <fmt/format.h>
#include <stdexcept>

namespace ptxasw::tool {
namespace {

struct Wanted {
  std::string first, second, kernel, save;
  std::vector<std::string> grids;
  simt::VerifyOptions options;
};

using ModulePtr = std::shared_ptr<const ptx::Module>;

ModulePtr module_of(std::string text, const std::string& name) {
  return std::make_shared<const ptx::Module>(ptx::parse(std::move(text), name));
}

std::vector<std::string> kernels_of(const ptx::Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions)
    if (f.is_entry && !f.is_declaration) names.emplace_back(f.name);
  return names;
}

// Both texts with the launch, as one file that can be kept and tried again.
std::string repro(const simt::VerifyResult& result, const std::string& kernel, const ModulePtr& a,
                  const ModulePtr& b) {
  std::string text = simt::text_of(result, kernel);
  std::string commented = "// ";
  for (const char c : text) {
    commented += c;
    if (c == '\n') commented += "// ";
  }
  return fmt::format("{}\n// ---- {}\n{}\n// ---- {}\n{}", commented, a->file, *a->text, b->file,
                     *b->text);
}

void verify_files(Wanted& wanted, const Options& options) {
  const std::string text = read_text(wanted.first);
  const ModulePtr a = module_of(text, wanted.first);
  const ModulePtr b = wanted.second.empty() ? module_of(optimize(text, wanted.first, options).text,
                                                        wanted.first + " (rewritten)")
                                            : module_of(read_text(wanted.second), wanted.second);
  for (const std::string& grid : wanted.grids) {
    const auto dim = simt::read_dim(grid);
    if (!dim) throw std::runtime_error(dim.error());
    wanted.options.grids.push_back(*dim);
  }
  if (options.block)
    wanted.options.blocks.push_back(
        {(*options.block)[0], (*options.block)[1], (*options.block)[2]});
  bool good = true;
  for (const std::string& kernel : kernels_of(*a)) {
    if (!wanted.kernel.empty() && kernel != wanted.kernel) continue;
    const simt::VerifyResult result = simt::verify(a, b, kernel, wanted.options);
    write_text("-", simt::text_of(result, kernel));
    good = good && result.ok();
    if (result.failure && !wanted.save.empty())
      write_text(wanted.save, repro(result, kernel, a, b));
  }
  if (!good) throw std::runtime_error("not all kernels are shown to be equal");
}

} // namespace

int verify(Arguments arguments) {
  CLI::App app("Runs the kernels of two PTX files on the same random memory, over many launch "
               "shapes, pointer\naliasings and schedules, and compares every byte. With one file, "
               "compares it with what the\noptimizer makes of it.",
               "ptxasw verify");
  Wanted wanted;
  app.add_option("FIRST", wanted.first, "PTX file; - is standard input")->required();
  app.add_option("SECOND", wanted.second, "the other version");
  app.add_option("--kernel", wanted.kernel, "only this one");
  app.add_option("--launches", wanted.options.launches, "how many argument sets (64)");
  app.add_option("--seed", wanted.options.seed, "of everything that is made up (1)");
  app.add_option("--grid", wanted.grids, "only these grids, XxYxZ")->allow_extra_args(false);
  app.add_option("--arg", wanted.options.arguments,
                 "as for `ptxasw run`; ? leaves it to be made up")
      ->allow_extra_args(false);
  app.add_flag("!--no-alias", wanted.options.alias, "pointers never share buffers");
  app.add_option("--threads", wanted.options.threads, "of this machine (all)");
  app.add_option("--save", wanted.save, "write a repro of a difference to this file");
  app.footer("  --block=XxYxZ  only this block\nOptions of the optimizer:\n" + optimizer_help());
  Options options;
  options.shuffle = ShuffleMode::all;
  return parse_and(app, options, std::move(arguments), [&] { verify_files(wanted, options); });
}

} // namespace ptxasw::tool
