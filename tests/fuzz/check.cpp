// Lines are statements here, so that deleting lines keeps most kernels readable; what is not valid
// any more does not fail in the same way and is not taken.
#include "fuzz/check.hpp"

#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "rewrite/coarsen_case.hpp"
#include "simt/verify.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace ptxasw::fuzz {

namespace {

std::shared_ptr<const ptx::Module> module_of(const std::string& text, const std::string& name) {
  return std::make_shared<const ptx::Module>(ptx::parse(text, name));
}

void compare(const std::string& text, std::uint64_t seed,
             const std::optional<std::array<std::uint32_t, 3>>& block, Round& round) {
  simt::VerifyOptions options;
  options.seed = seed;
  options.launches = 4;
  options.schedules = 1;
  options.threads = 1;
  options.budget = 1 << 20;
  options.grids = {{1}, {3}, {2, 2}, {1, 2, 2}, {2, 5}, {5, 2, 3}};
  if (block)
    options.blocks = {{(*block)[0], (*block)[1], (*block)[2]}};
  else
    options.blocks = {{32}, {33}, {64}, {1}, {16, 4}, {8, 4, 2}, {40}, {96}, {31, 2}};
  const simt::VerifyResult result = simt::verify(
      module_of(text, "original.ptx"), module_of(round.rewritten, "rewritten.ptx"), "k", options);
  round.equal = result.equal;
  round.left_out = result.left_out;
  if (!result.error.empty() || result.failure) round.problem = simt::text_of(result, "k");
}

} // namespace

Options everything_on(std::uint64_t seed) {
  Options options;
  options.shuffle = ShuffleMode::all;
  options.shuffle_shared = true;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  options.kernel_budget = std::chrono::seconds(10);
  if (seed % 8 == 1) options.emit = Emit::check;
  if (seed % 8 == 2) options.emit = Emit::uniform_branch;
  if (seed % 8 == 3) options.block = {{32, 1, 1}};
  if (seed % 8 == 4) options.block = {{64, 2, 1}};
  return options;
}

Round check_shuffles(const std::string& text, std::uint64_t seed, const Options& options) {
  Round round;
  const Optimized optimized = optimize(text, "fuzz.ptx", options);
  for (const KernelReport& kernel : optimized.report.kernels) {
    round.loads += kernel.loads;
    round.covered += kernel.covered;
  }
  if (!optimized.changed) return round;
  round.rewritten = optimized.text;
  compare(text, seed, options.block, round);
  return round;
}

Round check_coarsening(const std::string& text, std::uint64_t seed) {
  constexpr std::array<test::Factors, 7> factors{
      {{1, 4, 1}, {1, 2, 1}, {2, 1, 1}, {4, 1, 1}, {1, 2, 2}, {1, 3, 1}, {2, 2, 1}}};
  Round round;
  const test::Coarsened coarsened(text, reuse::BlockOptions{.factors = factors[seed % 7]}, "k");
  round.loads = coarsened.report.loads;
  round.covered = coarsened.report.loads_moved;
  if (coarsened.text == text) return round;
  round.rewritten = coarsened.text;
  compare(text, seed, std::nullopt, round);
  return round;
}

Round check(const std::string& text, std::uint64_t seed, Rewrite rewrite) {
  return rewrite == Rewrite::shuffle ? check_shuffles(text, seed, everything_on(seed))
                                     : check_coarsening(text, seed);
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
