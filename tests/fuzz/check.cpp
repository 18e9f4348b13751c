// Lines are statements here, so that deleting lines keeps most kernels readable; what is not valid
// any more does not fail in the same way and is not taken.
#include "fuzz/check.hpp"

#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "simt/verify.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace ptxasw::fuzz {

namespace {

std::shared_ptr<const ptx::Module> module_of(const std::string& text, const std::string& name) {
  return std::make_shared<const ptx::Module>(ptx::parse(text, name));
}

} // namespace

Options everything_on() {
  Options options;
  options.shuffle = ShuffleMode::all;
  options.shuffle_shared = true;
  options.kernel_budget = std::chrono::seconds(10);
  return options;
}

Round check(std::string text, std::uint64_t seed, const Options& rewrites) {
  Round round;
  round.text = std::move(text);
  const Optimized optimized = optimize(round.text, "fuzz.ptx", rewrites);
  for (const KernelReport& kernel : optimized.report.kernels) {
    round.loads += kernel.loads;
    round.covered += kernel.covered;
  }
  if (!optimized.changed) return round;
  round.rewritten = optimized.text;
  simt::VerifyOptions options;
  options.seed = seed;
  options.launches = 4;
  options.schedules = 1;
  options.threads = 1;
  options.budget = 1 << 20;
  options.grids = {{1}, {3}, {2, 2}, {1, 2, 2}, {2}};
  options.blocks = {{32}, {33}, {64}, {1}, {16, 4}, {8, 4, 2}, {40}, {96}, {31, 2}};
  const simt::VerifyResult result =
      simt::verify(module_of(round.text, "original.ptx"),
                   module_of(round.rewritten, "rewritten.ptx"), "k", options);
  round.equal = result.equal;
  round.left_out = result.left_out;
  if (!result.error.empty() || result.failure) round.problem = simt::text_of(result, "k");
  return round;
}

std::string shrink(const std::string& text,
                   const std::function<bool(const std::string&)>& still_fails) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  const auto join = [](const std::vector<std::string>& from) {
    std::string joined;
    for (const std::string& line : from)
      joined += line + '\n';
    return joined;
  };
  // Ever smaller runs of lines, until no single one can go.
  for (std::size_t run = std::max<std::size_t>(lines.size() / 2, 1); run != 0;) {
    bool smaller = false;
    for (std::size_t at = lines.size(); at-- > 0;) {
      const std::size_t first = at + 1 > run ? at + 1 - run : 0;
      std::vector<std::string> fewer(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(first));
      fewer.insert(fewer.end(), lines.begin() + static_cast<std::ptrdiff_t>(at + 1), lines.end());
      if (!still_fails(join(fewer))) continue;
      lines = std::move(fewer);
      smaller = true;
      at = std::min(first, lines.size());
    }
    if (!smaller) run /= 2;
  }
  return join(lines);
}

} // namespace ptxasw::fuzz
