// ptxasw verify: are two PTX files, or a file and what the drop-in makes of it,
// the same?
#include "command_line.hpp"
#include "launch.hpp"

#include "driver/progress.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "report/diff.hpp"
#include "sass/machine_code.hpp"
#include "simt/args.hpp"
#include "simt/verify.hpp"
#include "verify/pinned.hpp"
#include "verify/reach.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ptxasw::tool {
namespace {

struct WantedComparison {
  std::string first, second, kernel, save;
  std::vector<std::string> grids;
  simt::VerifyOptions options;
};

using ModulePtr = std::shared_ptr<const ptx::Module>;

ModulePtr module_of(std::string text, const std::string& name) {
  return std::make_shared<const ptx::Module>(ptx::parse(std::move(text), name));
}

// What it takes to see a difference again, as files of a directory: both
// versions and a script.
void save(const std::filesystem::path& directory, const simt::VerifyResult& result,
          const std::string& kernel, const ModulePtr& a, const ModulePtr& b,
          const simt::Dim3& divide) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed); // or writing says why
  std::istringstream text(simt::text_of(result, kernel));
  std::string script = "#!/bin/sh\n";
  for (std::string line; std::getline(text, line);)
    script += fmt::format("# {}\n", line);
  const simt::VerifyFailure& failure = *result.failure;
  script += "cd \"$(dirname \"$0\")\" || exit 1\n";
  const std::string& buffer = failure.buffer;
  for (const auto& [name, module] : {std::pair("first", a), std::pair("second", b)}) {
    simt::VerifyLaunch launch = failure.launch;
    if (module == b) {
      const simt::Dim3& grid = launch.grid;
      launch.grid = {grid.x / divide.x, grid.y / divide.y, grid.z / divide.z};
    }
    write_text(directory / fmt::format("{}.ptx", name), *module->text);
    script += fmt::format("${{PTXASW:-ptxasw}} run {}.ptx {} {}", name, launch.command(kernel),
                          failure.schedule.options());
    script += buffer.empty() ? "\n" : fmt::format(" --write={}:{}.bin\n", buffer, name);
  }
  if (!buffer.empty()) script += "cmp first.bin second.bin\n";
  write_text(directory / "repro.sh", script);
}

void add_shapes(const WantedComparison& wanted, const Options& options, simt::VerifyOptions& to) {
  for (const std::string& grid : wanted.grids) {
    const auto dim = simt::read_dim(grid);
    if (!dim) throw std::runtime_error(dim.error());
    to.grids.push_back(*dim);
  }
  if (options.block)
    to.blocks.push_back({(*options.block)[0], (*options.block)[1], (*options.block)[2]});
}

enum class Code : std::uint8_t { same, different, unknown };

// Does the assembler make the same machine code of a kernel in both texts?
Code compare_code(const ptx::Module& a, const std::string& b, const std::string& kernel,
                  const Options& options) {
  Code code = Code::unknown;
  with_ptxas(*a.text, options, [&](Assembler* ptxas) {
    if (ptxas == nullptr) return;
    const AssemblyRequest requests[] = {{.text = *a.text, .entries = {kernel}},
                                        {.text = b, .entries = {kernel}}};
    const auto made = ptxas->assemble(requests);
    if (!made[0] || !made[1]) return;
    auto codes = std::pair(sass::machine_code(made[0]->cubin), sass::machine_code(made[1]->cubin));
    if (codes.first[kernel].empty()) return;
    code = codes.first[kernel] == codes.second[kernel] ? Code::same : Code::different;
  });
  return code;
}

// Compares with the original as the second version pins its multiply-adds, if
// it may: then `a` becomes that.
simt::VerifyResult compare(ModulePtr& a, const ModulePtr& b, const std::string& kernel,
                           const simt::VerifyOptions& verify_options, const Options& options) {
  verify::Pinned pinned = verify::pin_like(*a, *b, kernel);
  const Code code =
      pinned.unclear == 0 ? Code::same : compare_code(*a, pinned.text, kernel, options);
  if (pinned.changed != 0 && code != Code::different)
    a = module_of(std::move(pinned.text), a->file);
  simt::VerifyResult result = simt::verify(a, b, kernel, verify_options);
  if (code == Code::unknown)
    result.missing.push_back(
        fmt::format("{} sums are not shown to be fused as ptxas may fuse them", pinned.unclear));
  return result;
}

// Kernels that are merged in large launches only ask for a size that a CPU does not run in good
// time.
constexpr std::uint64_t few_threads = 2048;

// Do the texts differ in the limits alone that rewritten kernels compare the size of a launch with?
bool same_but_for_limits(std::string_view a, std::string_view b) {
  const auto without_limit = [](std::string_view line) {
    const std::size_t end = line.find_last_not_of(';');
    const std::size_t digits = line.find_last_not_of("0123456789", end) + 1;
    const bool compares = line.find("setp.") != line.npos && line.find("%ptxasw") != line.npos;
    return compares && line.ends_with(';') && digits <= end ? line.substr(0, digits) : line;
  };
  const auto before = report::split_lines(a), after = report::split_lines(b);
  return std::ranges::equal(before, after, {}, without_limit, without_limit);
}

// The same with limits so low that a CPU reaches the merged forms, if `rewritten` is what the
// optimizer makes of `text`. Launches that then run a merged form are those that did, and more.
std::optional<std::string> with_low_limits(const std::string& text, const std::string& rewritten,
                                           const std::string& name, Options options) {
  constexpr std::string_view guard = "$ptxasw_large";
  if (options.coarsen_least_threads != 0 || rewritten.find(guard) == rewritten.npos)
    return std::nullopt;
  options.coarsen_least_threads = few_threads;
  std::string low = optimize_with_ptxas(text, name, options).text;
  if (low == rewritten || !same_but_for_limits(low, rewritten)) return std::nullopt;
  return low;
}

simt::VerifyResult watched(simt::VerifyOptions& options, const std::string& kernel,
                           const std::function<simt::VerifyResult()>& act) {
  driver::Progress progress("verify");
  if (options.time.count() != 0)
    progress.ends_after(static_cast<double>(options.time.count()) / 1000);
  options.watch = [&](std::uint64_t made, std::uint64_t of) { progress.at(made, of, kernel); };
  simt::VerifyResult result = act();
  options.watch = nullptr;
  return result;
}

// The exit code; throws where there is a difference.
int verify_files(WantedComparison& wanted, const Options& options) {
  const std::string text = read_ptx(wanted.first);
  const ModulePtr a = module_of(text, wanted.first);
  ModulePtr b;
  std::set<std::string> same;                 // as the optimizer leaves them alone
  std::set<std::string> alone;                // what fills no group of their grids stands by itself
  std::map<std::string, simt::Dim3> division; // of the grid, by the host
  if (wanted.second.empty()) {
    const Optimized optimized = optimize_with_ptxas(text, wanted.first, options);
    b = module_of(optimized.text, wanted.first + " (rewritten)");
    for (const KernelReport& kernel : optimized.report.kernels) {
      const auto& by = kernel.grid_divided_by;
      division[kernel.name] = {by[0], by[1], by[2]};
      if (kernel.grid_rest_by_itself) alone.insert(kernel.name);
      if (!kernel.changed) same.insert(kernel.name);
    }
  } else {
    b = module_of(read_ptx(wanted.second), wanted.second);
  }
  if (auto low = with_low_limits(text, *b->text, wanted.first, options)) {
    write_text("-",
               fmt::format("Launches from {} threads on are merged here, so that a CPU reaches "
                           "the merged form; but for\nthat limit the text is the one that "
                           "was to be compared.\n",
                           few_threads));
    b = module_of(std::move(*low), b->file);
  }
  add_shapes(wanted, options, wanted.options);
  const std::vector<std::string> kernels =
      wanted.kernel.empty() ? kernels_of(*a)
                            : std::vector<std::string>{kernel_named(*a, wanted.kernel)};
  if (kernels.empty()) throw InputError(fmt::format("{} has no kernels", wanted.first));
  bool differs = false, shown = true;
  for (const std::string& kernel : kernels) {
    if (same.contains(kernel)) {
      write_text("-", fmt::format("{}: not rewritten, nothing to compare\n", kernel));
      continue;
    }
    if (const auto by = division.find(kernel); by != division.end())
      wanted.options.divide = by->second;
    wanted.options.find_paths = verify::way_finder();
    wanted.options.rest_by_itself = alone.contains(kernel);
    wanted.options.original_grid =
        division.contains(kernel) && options.coarsen_grid == CoarsenGrid::launcher;
    ModulePtr compared = a;
    const simt::VerifyResult result = watched(wanted.options, kernel, [&] {
      return compare(compared, b, kernel, wanted.options, options);
    });
    write_text("-", simt::text_of(result, kernel));
    differs |= result.failure || !result.error.empty();
    shown = shown && result.shown();
    if (result.failure && !wanted.save.empty())
      save(wanted.save, result, kernel, compared, b, wanted.options.divide);
  }
  if (differs) throw std::runtime_error("kernels differ, or could not be compared");
  return shown ? exit_done : exit_not_shown;
}

} // namespace

int verify(Arguments arguments) {
  Parser app("verify", "Runs the kernels of two PTX files on the same random "
                       "memory, over many launch "
                       "shapes, pointer\naliasings and schedules, and compares "
                       "every byte. With one file, "
                       "compares it with what the\ndrop-in would assemble in "
                       "its place. Ends with 0: "
                       "equal, every access "
                       "that they do not have in common was\nreached; 1: "
                       "different; 3: no difference, but "
                       "not shown either, with what may help.");
  WantedComparison wanted;
  app.add("FIRST", wanted.first, "PTX file; - is standard input", {.required = true});
  app.add("SECOND", wanted.second, "the other version");
  app.add("--kernel", wanted.kernel, "only this one");
  app.add("--launches", wanted.options.launches, "how many argument sets (64)");
  app.add("--seed", wanted.options.seed, "of everything that is made up (1)");
  app.add("--grid", wanted.grids, "only these grids, XxYxZ");
  app.add("--arg", wanted.options.arguments, "as for `ptxasw run`; ? leaves it to be made up");
  bool no_alias = false;
  app.add("--no-alias", no_alias, "pointers never share buffers");
  app.add("--schedules", wanted.options.schedules, "random ones of each kind (2)");
  app.add("--across-trips", wanted.options.across_iterations,
          "independent lanes may meet in different trips of a loop, as no "
          "hardware does");
  double seconds = 60;
  app.add("--time", seconds,
          "seconds for a kernel, after which no further launch begins; 0: no "
          "limit (60)");
  app.add("--threads", wanted.options.threads, "of this machine (all)");
  app.add("--save", wanted.save,
          "directory for a repro of a difference: both versions and a script");
  app.footer("  --block=XxYxZ  only this block");
  Options options;
  return parse_and(app, options, std::move(arguments), [&] {
    wanted.options.alias = !no_alias;
    wanted.options.time = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
    return verify_files(wanted, options);
  });
}

} // namespace ptxasw::tool
