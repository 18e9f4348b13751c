// Lines are statements here, so that deleting lines keeps most kernels readable; what is not valid
// any more does not fail in the same way and is not taken.
#include "fuzz/check.hpp"

#include "contract/contract.hpp"
#include "contract/reshape.hpp"
#include "driver/ptxas.hpp"
#include "passes/coarsen/coarsen_case.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"
#include "simt/random.hpp"
#include "simt/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ptxasw::fuzz {

namespace {

std::shared_ptr<const ptx::Module> module_of(const std::string& text, const std::string& name) {
  return std::make_shared<const ptx::Module>(ptx::parse(text, name));
}

using Block = std::optional<std::array<std::uint32_t, 3>>;

// Two grids and two block shapes, other ones for each seed.
constexpr simt::Dim3 any_blocks[] = {{32}, {33}, {64},    {16, 2}, {1},       {8, 4, 2},
                                     {40}, {96}, {16, 4}, {31, 2}, {4, 3, 3}, {32, 3}};

simt::VerifyOptions launches(std::uint64_t seed, std::span<const simt::Dim3> grids,
                             const Block& block, std::span<const simt::Dim3> blocks = any_blocks) {
  simt::Random random(seed);
  simt::VerifyOptions options{.seed = seed,
                              .launches = 4,
                              .schedules = 1,
                              .threads = 1,
                              .budget = 1 << 18,
                              .defined_only = true};
  for (int n = 0; n < 2; ++n) {
    options.grids.push_back(grids[random.below(grids.size())]);
    if (!block) options.blocks.push_back(blocks[random.below(blocks.size())]);
  }
  if (block) options.blocks = {{(*block)[0], (*block)[1], (*block)[2]}};
  // Mostly arrays with room on all sides; else what the verifier makes up: few elements, pointers
  // that overlap, sizes at which indices wrap.
  if (!random.one_in(3)) {
    options.arguments = {"random:f32:65536:1+131072",
                         "random:u32:65536:2:bits+131072",
                         "random:u32:16384:3",
                         "zeros:65536",
                         std::to_string(3 + random.below(40)),
                         std::to_string(1 + random.below(9))};
  }
  return options;
}

void compare(const std::string& text, simt::VerifyOptions options, Round& round) {
  const auto original = module_of(text, "original.ptx");
  for (const ptx::Function& function : original->functions)
    if (function.name == "k" && function.parameters.size() != 6) options.arguments.clear();
  const simt::VerifyResult result =
      simt::verify(original, module_of(round.rewritten, "rewritten.ptx"), "k", options);
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
  if (seed / 8 % 2 == 1) {
    options.loop_carry = LoopCarryMode::all;
    options.loop_carry_iterations = static_cast<unsigned>(1 + seed / 16 % 4);
    options.warp_reduce = WarpReduceMode::all;
    if (seed / 8 % 8 == 3) options.coarsen = {2, 1, 1}; // and the trees of merged blocks
  }
  if (seed % 8 == 1) options.emit = Emit::check;
  if (seed % 8 == 3) options.block = {{32, 1, 1}};
  if (seed % 8 == 4) options.block = {{64, 2, 1}};
  return options;
}

namespace {

Round check_options(const std::string& text, std::uint64_t seed, const Options& options,
                    std::span<const simt::Dim3> grids,
                    std::span<const simt::Dim3> blocks = any_blocks,
                    const std::function<void(std::string&)>& harm = {}) {
  Round round;
  const Optimized optimized = optimize(text, "fuzz.ptx", options);
  for (const KernelReport& kernel : optimized.report.kernels) {
    round.loads += kernel.loads;
    round.covered += kernel.covered;
    round.in_registers |= kernel.rounds.status == Status::done;
    round.rotated |= kernel.rotation.status == Status::done;
  }
  if (!optimized.changed) return round;
  round.rewritten = optimized.text;
  if (harm) harm(round.rewritten);
  compare(text, launches(seed, grids, options.block, blocks), round);
  return round;
}

} // namespace

Round check_shuffles(const std::string& text, std::uint64_t seed, const Options& options,
                     const std::function<void(std::string&)>& harm) {
  constexpr simt::Dim3 grids[] = {{1}, {3}, {2, 2}, {1, 2, 2}};
  return check_options(text, seed, options, grids, any_blocks, harm);
}

Options trees_on(std::uint64_t seed) {
  Options options;
  options.shuffle = ShuffleMode::none;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  options.kernel_budget = std::chrono::seconds(10);
  options.loop_carry = LoopCarryMode::all;
  options.loop_carry_iterations = static_cast<unsigned>(1 + seed % 4);
  options.warp_reduce = WarpReduceMode::all;
  if (seed % 8 == 1) options.coarsen = {2, 1, 1};
  if (seed % 8 == 2) options.block = {{64, 1, 1}};
  if (seed % 8 == 3) options.block = {{32, 4, 1}};
  return options;
}

Round check_trees(const std::string& text, std::uint64_t seed, const Options& options) {
  constexpr simt::Dim3 grids[] = {{1}, {2}, {3}, {2, 2}};
  constexpr simt::Dim3 blocks[] = {{32},    {64},    {128}, {64}, {96}, {32, 2},
                                   {32, 4}, {16, 2}, {48},  {33}, {2}};
  return check_options(text, seed, options, grids, blocks);
}

Round check_remap(const std::string& text, std::uint64_t seed) {
  const Remap remaps[] = {
      {RemapKind::column, 1},        {RemapKind::column, 2},        {RemapKind::column, 3},
      {RemapKind::zigzag, 2},        {RemapKind::zigzag, 3},        {RemapKind::swap},
      {RemapKind::linear_column, 8}, {RemapKind::linear_column, 5}, {RemapKind::linear_zigzag, 4},
      {RemapKind::thread_swap, 4},   {RemapKind::thread_swap, 8}};
  constexpr simt::Dim3 grids[] = {{1}, {5}, {3, 3}, {2, 3, 2}, {5, 2}, {1, 5}};
  simt::Random random(seed);
  Options options = everything_on(seed);
  if (!random.one_in(3)) options.shuffle = ShuffleMode::none;
  options.remaps = {remaps[random.below(std::size(remaps))]};
  return check_options(text, seed, options, grids);
}

Merge merge_of(std::uint64_t seed) {
  constexpr test::Factors factors[] = {{1, 4, 1}, {1, 2, 1}, {2, 1, 1}, {4, 1, 1}, {1, 2, 2},
                                       {1, 3, 1}, {2, 2, 1}, {1, 8, 1}, {1, 1, 2}, {1, 1, 4},
                                       {3, 1, 1}, {1, 4, 2}, {2, 1, 2}, {2, 3, 1}, {2, 2, 2}};
  simt::Random random(seed);
  Merge merge;
  merge.plan.factors = factors[random.below(std::size(factors))];
  if (random.one_in(3)) merge.plan.order = passes::CopyOrder::instructions;
  merge.plan.rows = !random.one_in(3);
  merge.plan.paranoid = random.one_in(32);
  if (random.one_in(3)) merge.grid = random.one_in(2) ? CoarsenGrid::host : CoarsenGrid::launcher;
  merge.plan.regions = merge.grid != CoarsenGrid::kernel;
  constexpr std::uint64_t leasts[] = {0, 0, 1, 60, 300, 1500};
  if (merge.grid == CoarsenGrid::kernel)
    merge.least_threads = leasts[random.below(std::size(leasts))];
  return merge;
}

Round check_coarsening(const std::string& text, std::uint64_t seed, const Merge& merge) {
  Round round;
  const auto original = module_of(text, "original.ptx"); // which the names are views of
  if (std::ranges::none_of(original->functions,
                           [](const ptx::Function& f) { return f.name == "k"; }))
    return round; // what is left of a kernel under reduction
  bool uniform = false;
  try {
    const test::Coarsened coarsened(text, merge.plan, "k",
                                    {.grid = merge.grid, .least_threads = merge.least_threads});
    round.loads = coarsened.report.loads;
    round.covered = coarsened.report.loads_moved;
    if (coarsened.text != text) round.rewritten = coarsened.text;
    uniform = coarsened.plan.uniform;
  } catch (const std::runtime_error& refused) { // a name would not mean what it should
    if (std::string_view(refused.what()).starts_with("internal")) round.problem = refused.what();
  }
  if (round.rewritten.empty()) return round;
  // One group, two and a part of one, several along each axis.
  const auto& [x, y, z] = merge.plan.factors;
  const simt::Dim3 grids[] = {{x, y, z},
                              {2 * x + x / 2, y + 1, z},
                              {x, 2 * y, z + z / 2},
                              {1, 2, 2},
                              {x + 1, 2 * y - 1, 2 * z}};
  simt::VerifyOptions options = launches(seed, grids, std::nullopt);
  if (merge.grid != CoarsenGrid::kernel) options.divide = {x, y, z};
  options.original_grid = merge.grid == CoarsenGrid::launcher;
  options.rest_by_itself = options.original_grid && uniform;
  compare(text, options, round);
  return round;
}

namespace {

// A real one, or one that takes nothing.
std::unique_ptr<Assembler> assembler() {
  const char* home = std::getenv("CUDA_HOME"); // NOLINT(concurrency-mt-unsafe)
  const std::string ptxas = fmt::format("{}/bin/ptxas", home != nullptr ? home : "/usr/local/cuda");
  if (!std::filesystem::exists(ptxas)) return nullptr;
  return std::make_unique<driver::Ptxas>(ptxas, "sm_90");
}

} // namespace

Round check_shipped(const std::string& text, std::uint64_t seed) {
  constexpr simt::Dim3 grids[] = {{1}, {3, 4}, {2, 8}, {1, 5, 4}, {2, 7, 2}};
  Options options;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  options.kernel_budget = std::chrono::seconds(10);
  options.coarsen_auto = seed % 4 != 0;
  constexpr std::uint64_t leasts[] = {1, 1, 60, 400}; // of the launches below some, or all
  options.coarsen_least_threads = leasts[seed / 8 % std::size(leasts)];
  options.coarsen_large = seed % 4 != 1;
  options.fewer_blocks = seed % 8 == 1;
  const auto ptxas = assembler();
  Optimized optimized = optimize(text, "fuzz.ptx", options, ptxas.get());
  Round round;
  for (const KernelReport& kernel : optimized.report.kernels) {
    round.loads += kernel.loads;
    round.covered += kernel.covered;
  }
  if (!optimized.changed) return round;
  round.rewritten = optimized.text;
  compare(text, launches(seed, grids, std::nullopt), round);
  return round;
}

namespace {

// What the module says of the versions of `k`.
std::optional<contract::Contract> contract_of(const std::string& text) {
  const std::size_t name = text.find(contract::symbol_of("k") + "[");
  if (name == text.npos) return std::nullopt;
  std::istringstream numbers(text.substr(text.find('{', name) + 1));
  std::string bytes;
  for (std::string number; std::getline(numbers, number, ',');) {
    bytes += static_cast<char>(std::strtoul(number.c_str(), nullptr, 10));
    if (number.find('}') != number.npos) break;
  }
  auto decoded = contract::decode(bytes);
  return decoded ? std::optional(*std::move(decoded)) : std::nullopt;
}

// The module in which that entry is called `k`.
std::string with_entry(std::string text, const std::string& entry) {
  const auto call = [&](const std::string& from, const std::string& to) {
    const std::string before = ".entry " + from + "(";
    if (const std::size_t at = text.find(before); at != text.npos)
      text.replace(at, before.size(), ".entry " + to + "(");
  };
  if (entry == "k") return text;
  call("k", "k_itself");
  call(entry, "k");
  return text;
}

simt::VerifyOptions launched_as(const contract::Variant& version, simt::VerifyOptions options) {
  options.divide = {version.divide[0], version.divide[1], version.divide[2]};
  options.original_grid = version.takes_grid() && !version.reshapes();
  options.rest_by_itself = version.rest == contract::Rest::by_itself;
  if (!version.reshapes()) return options;
  options.budget <<= 6; // many threads, of which most leave at once
  options.other_shape = [version](const simt::LaunchShape& shape, simt::Argument& appended) {
    const auto made = contract::reshape(version, {shape.grid.x, shape.grid.y, shape.grid.z},
                                        {shape.block.x, shape.block.y, shape.block.z});
    if (!made) return shape; // as it is: the launcher takes another version
    appended.bytes.resize(sizeof made->original);
    std::memcpy(appended.bytes.data(), &made->original, sizeof made->original);
    return simt::LaunchShape{{made->grid[0], made->grid[1], made->grid[2]},
                             {made->block[0], made->block[1], made->block[2]}};
  };
  return options;
}

} // namespace

Round check_versions(const std::string& text, std::uint64_t seed) {
  constexpr simt::Dim3 grids[] = {{1}, {3, 4}, {2, 8}, {1, 5, 4}, {2, 7, 2}, {9}};
  Options options;
  options.fp_contract = FpContract::any; // the interpreter fuses nothing
  options.kernel_budget = std::chrono::seconds(10);
  options.variants = true;
  constexpr std::uint64_t leasts[] = {1, 60, 400};
  options.coarsen_least_threads = leasts[seed / 8 % std::size(leasts)];
  options.coarsen_large = seed % 2 == 0;
  options.fewer_blocks = seed % 4 == 1;
  const auto ptxas = assembler();
  const Optimized optimized = optimize(text, "fuzz.ptx", options, ptxas.get());
  Round round;
  if (!optimized.changed) return round;
  const bool has_versions = optimized.text.find(contract::symbol_of("k")) != std::string::npos;
  const auto known = has_versions ? contract_of(optimized.text)
                                  : std::optional(contract::Contract{.variants = {{.entry = "k"}}});
  if (!known) {
    round.problem = "the contract cannot be read";
    return round;
  }
  for (const contract::Variant& version : known->variants) {
    Round one;
    one.rewritten = with_entry(optimized.text, version.entry);
    compare(text, launched_as(version, launches(seed, grids, std::nullopt)), one);
    ++round.loads;
    round.covered += one.equal != 0 ? 1 : 0;
    round.equal += one.equal;
    round.left_out += one.left_out;
    round.rewritten = one.rewritten;
    if (one.problem.empty()) continue;
    round.problem = version.name + ": " + one.problem;
    break;
  }
  return round;
}

Round check(const std::string& text, std::uint64_t seed, Rewrite rewrite) {
  switch (rewrite) {
  case Rewrite::shuffle: return check_shuffles(text, seed, everything_on(seed));
  case Rewrite::coarsen: return check_coarsening(text, seed, merge_of(seed));
  case Rewrite::shipped: return check_shipped(text, seed);
  case Rewrite::versions: return check_versions(text, seed);
  case Rewrite::trees: return check_trees(text, seed, trees_on(seed));
  case Rewrite::remap: break;
  }
  return check_remap(text, seed);
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
