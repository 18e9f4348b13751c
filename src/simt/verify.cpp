// Launch by launch: make up a case, run the original under each schedule until it is sure that the
// result does not depend on it, then the other version under the same schedules.
#include "simt/verify.hpp"

#include "simt/args.hpp"
#include "simt/guess.hpp"
#include "simt/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>

namespace ptxasw::simt {

namespace {

struct Shape {
  Dim3 grid, block;
};
constexpr Shape usual_shapes[] = {
    {{1}, {32}},      {{3}, {64}},       {{2}, {100}},      {{1}, {1}},
    {{1}, {31}},      {{1}, {33}},       {{5}, {128}},      {{1}, {16, 16}},
    {{2, 3}, {8, 4}}, {{3, 2}, {32, 2}}, {{1}, {7, 5, 3}},  {{2, 2, 2}, {4, 4, 4}},
    {{4}, {256}},     {{2, 2}, {33, 3}}, {{1, 4}, {64, 1}}, {{1, 3, 2}, {48, 2, 1}},
    {{1}, {96, 2}},   {{2, 9}, {128}},   {{1}, {1024}},     {{1, 17}, {40}},
};

struct Outcome {
  enum class Kind : std::uint8_t { equal, left_out, failed } kind = Kind::left_out;
  std::string reason;
  Counts left, right;
  VerifyFailure failure;
};

// Lines of vprintf, without their order: threads may print in any.
std::vector<std::string> printed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

// What a run is looked at for besides its result.
struct Watch {
  Observer observer = {};
  bool undefined = false, races = false; // end the launch
};

class Verifier {
public:
  Verifier(ProgramPtr left, ProgramPtr right, const VerifyOptions& options)
      : left_(std::move(left)), right_(std::move(right)), options_(options),
        uses_(parameter_uses(*left_)) {
    if (options.grids.empty() && options.blocks.empty()) {
      for (const Shape& shape : usual_shapes)
        add_shape(shape);
    } else {
      for (const Dim3& grid : options.grids.empty() ? std::vector<Dim3>{{1}} : options.grids)
        for (const Dim3& block : options.blocks.empty() ? std::vector<Dim3>{{32}} : options.blocks)
          add_shape({grid, block});
    }
  }

  [[nodiscard]] bool has_shapes() const { return !shapes_.empty(); }

  // Launch number `index`; the same one gives the same outcome at any time.
  Outcome run_one(std::uint64_t index) const {
    Outcome outcome;
    constexpr unsigned attempts = 5;
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
      const VerifyLaunch launch = make_launch(index, attempt);
      outcome = compare(launch, index);
      if (outcome.kind != Outcome::Kind::left_out) break;
    }
    return outcome;
  }

private:
  void add_shape(const Shape& shape) {
    const auto& f = *left_->kernel;
    std::uint64_t most = 1024;
    if (f.maxntid[0] != 0) {
      most = 1;
      for (const std::uint32_t n : f.maxntid)
        most *= std::max(n, 1U);
    }
    Shape fitted = shape;
    if (f.reqntid[0] != 0)
      fitted.block = {f.reqntid[0], std::max(f.reqntid[1], 1U), std::max(f.reqntid[2], 1U)};
    const auto up = [](std::uint32_t n, std::uint32_t unit) {
      return (n + unit - 1) / unit * unit;
    };
    fitted.grid = {up(shape.grid.x, options_.divide.x), up(shape.grid.y, options_.divide.y),
                   up(shape.grid.z, options_.divide.z)};
    if (fitted.block.count() <= most) shapes_.push_back(fitted);
  }

  VerifyLaunch make_launch(std::uint64_t index, unsigned attempt) const {
    Random random(options_.seed * 1000003 + index);
    const Shape& shape = shapes_[index % shapes_.size()];
    const bool alias = options_.alias && random.one_in(4);
    VerifyLaunch launch{shape.grid, shape.block, {}};
    launch.arguments =
        guess_arguments(*left_, uses_, {shape.grid, shape.block, alias, attempt}, random);
    for (std::size_t i = 0; i < options_.arguments.size() && i < launch.arguments.size(); ++i)
      if (options_.arguments[i] != "?") launch.arguments[i] = options_.arguments[i];
    return launch;
  }

  // Plain lockstep first.
  std::vector<Schedule> schedules(std::uint64_t index) const {
    using Kind = Schedule::Kind;
    std::vector<Schedule> all{{Kind::lockstep, 0, 1}, {Kind::one_lane, index + 1, 1}};
    for (unsigned i = 0; i < options_.schedules; ++i) {
      const std::uint64_t seed = index * options_.schedules + i + 1;
      all.push_back({Kind::independent, seed, 1 + i % 3, options_.across_trips});
      all.push_back({Kind::lockstep, seed, 1 + i % 2});
    }
    return all;
  }

  // Memory and arguments of a launch, before it runs.
  struct Prepared {
    Memory memory;
    std::vector<Argument> arguments;
    std::string error;
  };
  Prepared prepare(const VerifyLaunch& launch) const {
    Prepared prepared;
    auto arguments = make_arguments(*left_, launch.arguments, prepared.memory);
    if (arguments)
      prepared.arguments = std::move(*arguments);
    else
      prepared.error = arguments.error();
    return prepared;
  }

  struct Run {
    Result result;
    Memory memory;
  };
  Run run(const Program& program, const VerifyLaunch& launch, const Prepared& prepared,
          const Schedule& schedule, const Watch& watch = {}) const {
    Run run{{}, prepared.memory};
    constexpr std::uint64_t slower = 4; // a rewrite may take more steps than what it replaces
    const bool rewritten = &program == right_.get();
    const Dim3 divide = rewritten ? options_.divide : Dim3{1};
    run.result = simt::run(
        program,
        {.grid = {launch.grid.x / divide.x, launch.grid.y / divide.y, launch.grid.z / divide.z},
         .block = launch.block,
         .dynamic_shared = launch.dynamic_shared,
         .arguments = prepared.arguments,
         .schedule = schedule,
         .budget = options_.budget * (rewritten ? slower : 1),
         .report_undefined = watch.undefined,
         .report_races = watch.races,
         .observer = watch.observer},
        run.memory);
    return run;
  }

  Outcome compare(const VerifyLaunch& launch, std::uint64_t index) const {
    Outcome outcome;
    const Prepared prepared = prepare(launch);
    outcome.reason = prepared.error;
    if (!prepared.error.empty()) return outcome;
    const Run first = run(*left_, launch, prepared, {}, {.undefined = options_.defined_only});
    outcome.reason = first.result.message;
    if (!first.result.ok()) return outcome;
    const auto all = schedules(index);
    for (const Schedule& schedule : std::span(all).subspan(1)) {
      const Run again = run(*left_, launch, prepared, schedule);
      outcome.reason = again.result.message;
      if (!again.result.ok()) return outcome;
      if (!first_difference(first.memory, again.memory)) continue;
      outcome.reason = "the original's result depends on the schedule";
      return outcome;
    }
    outcome.left = first.result.counts;
    for (const Schedule& schedule : all) {
      const Run other = run(*right_, launch, prepared, schedule);
      if (&schedule == &all.front()) outcome.right = other.result.counts;
      const auto difference = other.result.ok() ? first_difference(first.memory, other.memory)
                                                : std::optional<Difference>();
      const bool same_text =
          printed_lines(first.result.printed) == printed_lines(other.result.printed);
      if (other.result.ok() && !difference && same_text) continue;
      if (!run(*left_, launch, prepared, schedule, {.races = true}).result.ok()) {
        outcome.reason = "the original has a data race";
        return outcome;
      }
      outcome.kind = Outcome::Kind::failed;
      outcome.failure = explain(launch, prepared, schedule, other.result, difference);
      return outcome;
    }
    outcome.kind = Outcome::Kind::equal;
    return outcome;
  }

  VerifyFailure explain(const VerifyLaunch& launch, const Prepared& prepared,
                        const Schedule& schedule, const Result& other,
                        const std::optional<Difference>& difference) const {
    VerifyFailure failure{launch, schedule, other.message, {}, {}, {}};
    if (other.ok() && !difference) failure.what = "different text is printed";
    if (!difference) return failure;
    failure.what = fmt::format("byte {} of {} is {:#04x}, in the other version {}",
                               difference->offset, difference->allocation, difference->left,
                               difference->right_defined ? fmt::format("{:#04x}", difference->right)
                                                         : std::string("it has no value"));
    failure.buffer = difference->allocation;
    failure.left_store = last_store(*left_, launch, prepared, schedule, difference->address);
    failure.right_store = last_store(*right_, launch, prepared, schedule, difference->address);
    return failure;
  }

  std::string last_store(const Program& program, const VerifyLaunch& launch,
                         const Prepared& prepared, const Schedule& schedule,
                         std::uint64_t address) const {
    std::string found;
    const Observer observer = [&](const Access& access) {
      if (access.kind == Access::Kind::load) return;
      for_lanes(access.mask, [&](unsigned lane) {
        const std::uint64_t at = access.addresses[lane];
        if (address < at || address - at >= access.bytes) return;
        found = fmt::format("{}: {} [block ({}, {}, {}), warp {}, lane {}]",
                            place_of(program, *access.inst), text_of(program, *access.inst),
                            access.block.x, access.block.y, access.block.z, access.warp, lane);
      });
    };
    run(program, launch, prepared, schedule, {.observer = observer});
    return found;
  }

  ProgramPtr left_, right_;
  VerifyOptions options_;
  std::vector<ParameterUse> uses_;
  std::vector<Shape> shapes_;
};

void add(Counts& to, const Counts& from) {
  to.warp_instructions += from.warp_instructions;
  to.thread_instructions += from.thread_instructions;
  to.global_load_requests += from.global_load_requests;
  to.global_load_sectors += from.global_load_sectors;
  to.global_store_requests += from.global_store_requests;
  to.global_store_sectors += from.global_store_sectors;
  to.shuffles += from.shuffles;
  to.barriers += from.barriers;
}

VerifyResult collect(const std::vector<Outcome>& outcomes) {
  VerifyResult result;
  for (const Outcome& outcome : outcomes) {
    if (outcome.kind == Outcome::Kind::failed && !result.failure) result.failure = outcome.failure;
    if (outcome.kind == Outcome::Kind::left_out) {
      if (result.left_out++ == 0) result.left_out_reason = outcome.reason;
    }
    if (outcome.kind != Outcome::Kind::equal) continue;
    ++result.equal;
    add(result.left, outcome.left);
    add(result.right, outcome.right);
  }
  return result;
}

} // namespace

VerifyResult verify(const std::shared_ptr<const ptx::Module>& left,
                    const std::shared_ptr<const ptx::Module>& right, std::string_view kernel,
                    const VerifyOptions& options) {
  VerifyResult result;
  auto a = compile(left, kernel), b = compile(right, kernel);
  if (!a || !b) {
    result.error = a ? b.error() : a.error();
    return result;
  }
  if ((*a)->kernel->parameters.size() != (*b)->kernel->parameters.size()) {
    result.error = "the two kernels take different parameters";
    return result;
  }
  const Verifier verifier(*a, *b, options);
  if (!verifier.has_shapes()) {
    result.error = "no block shape fits the kernel";
    return result;
  }
  std::vector<Outcome> outcomes(options.launches);
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (std::uint64_t i = next++; i < outcomes.size() && !failed; i = next++) {
      outcomes[i] = verifier.run_one(i);
      if (outcomes[i].kind == Outcome::Kind::failed) failed = true;
    }
  };
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < (options.threads == 0 ? cores : options.threads); ++i)
    workers.emplace_back(work);
  work();
  workers.clear();
  return collect(outcomes);
}

std::string VerifyLaunch::command(std::string_view kernel) const {
  std::string text =
      fmt::format("--kernel={} --grid={} --block={}", kernel, text_of(grid), text_of(block));
  for (const std::string& argument : arguments)
    text += fmt::format(" --arg={}", argument);
  return text + fmt::format(" --shared={}", dynamic_shared);
}

std::string text_of(const VerifyResult& result, std::string_view kernel) {
  if (!result.error.empty()) return fmt::format("{}: {}\n", kernel, result.error);
  std::string text;
  if (result.failure) {
    const VerifyFailure& f = *result.failure;
    text += fmt::format("{}: different\n  {}\n", kernel, f.what);
    if (!f.left_store.empty()) text += fmt::format("  first:  {}\n", f.left_store);
    if (!f.right_store.empty()) text += fmt::format("  second: {}\n", f.right_store);
    text += fmt::format("  launch: {} {}\n", f.launch.command(kernel), f.schedule.options());
    return text;
  }
  if (result.equal == 0)
    return fmt::format("{}: nothing could be compared with made-up arguments (--arg gives others): "
                       "{}\n",
                       kernel, result.left_out_reason);
  text += fmt::format("{}: equal on {} launches", kernel, result.equal);
  if (result.left_out != 0)
    text += fmt::format(", {} left out ({})", result.left_out, result.left_out_reason);
  const auto change = [&](std::string_view what, std::uint64_t before, std::uint64_t after) {
    text += fmt::format("\n  {:22} {:>10} -> {:>10}", what, before, after);
    if (before != 0)
      text += fmt::format("  ({:+.1f}%)",
                          100.0 * (static_cast<double>(after) / static_cast<double>(before) - 1));
  };
  change("global load requests", result.left.global_load_requests,
         result.right.global_load_requests);
  change("global load sectors", result.left.global_load_sectors, result.right.global_load_sectors);
  change("warp instructions", result.left.warp_instructions, result.right.warp_instructions);
  if (result.left.shuffles + result.right.shuffles != 0)
    change("shuffles among them", result.left.shuffles, result.right.shuffles);
  return text + "\n";
}

} // namespace ptxasw::simt
