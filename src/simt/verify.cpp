// Launch by launch: make up a case, run the original under each schedule until it is sure that the
// result does not depend on it, then the other version under the same schedules. What has not been
// reached by then is looked for one place at a time.
#include "simt/verify.hpp"

#include "simt/args.hpp"
#include "simt/cases.hpp"
#include "simt/goals.hpp"
#include "simt/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>
#include <utility>

namespace ptxasw::simt {

namespace {

// Three u32, as the launcher passes them.
Argument sizes_of(const Dim3& grid) {
  Argument sizes;
  for (const std::uint32_t size : {grid.x, grid.y, grid.z})
    for (unsigned byte = 0; byte < 4; ++byte)
      sizes.bytes.push_back(static_cast<std::uint8_t>(size >> (8 * byte)));
  return sizes;
}

struct Outcome {
  // idle: equal, and nothing was written. racy: different, and so may the original be.
  enum class Kind : std::uint8_t { equal, idle, racy, left_out, failed } kind = Kind::left_out;
  std::string reason;
  Counts left, right;
  Coverage coverage;
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
  bool coverage = false;
};

class Verifier {
public:
  Verifier(ProgramPtr left, ProgramPtr right, const VerifyOptions& options)
      : left_(std::move(left)), right_(std::move(right)), options_(options),
        cases_(*left_, options), goals_(find_goals(*left_, *right_)) {}

  [[nodiscard]] bool has_shapes() const { return !cases_.shapes().empty(); }

  // Too large for schedules that take lanes one at a time.
  [[nodiscard]] static bool is_large(const LaunchShape& shape) {
    constexpr std::uint64_t many_threads = 1 << 14;
    return shape.grid.count() * shape.block.count() > many_threads;
  }

  [[nodiscard]] const std::vector<Goal>& goals() const { return goals_; }

  [[nodiscard]] bool is_late() const {
    return options_.time.count() != 0 && std::chrono::steady_clock::now() - start_ > options_.time;
  }

  // The same case gives the same outcome at any time.
  Outcome run_one(const Case& which) const {
    Outcome outcome;
    constexpr unsigned attempts = 5;
    for (unsigned attempt = 0; attempt < attempts && !is_late(); ++attempt) {
      const VerifyLaunch launch = cases_.make(which, attempt);
      outcome = compare(launch, which.index);
      if (outcome.kind != Outcome::Kind::left_out) break;
    }
    return outcome;
  }

  [[nodiscard]] ReachingLaunches find_paths(const Goal& goal) const {
    return find_paths(goal, cases_, options_.grids.empty());
  }
  [[nodiscard]] ReachingLaunches find_paths(const Goal& goal, const Cases& cases,
                                            bool other_grids) const {
    Quest quest{.program = goal.second ? right_.get() : left_.get(),
                .inst = goal.inst,
                .full_warp = goal.full_warp,
                .shapes = cases.flat_shapes(),
                .other_grids = other_grids,
                .pointers = cases.pointers(),
                .known = cases.known()};
    const Dim3 divide = goal.second ? options_.divide : Dim3{1};
    for (LaunchShape& shape : quest.shapes)
      shape.grid = divided(shape.grid, divide);
    ReachingLaunches found = options_.find_paths(quest);
    for (ReachingLaunch& way : found.ways) {
      Dim3& grid = way.shape.grid;
      grid = {grid.x * divide.x, grid.y * divide.y, grid.z * divide.z};
    }
    return found;
  }

  // Of a place that no launch of the given grids, blocks and arguments reaches: whether another one
  // might.
  [[nodiscard]] bool is_outside(const Goal& goal) const {
    if (options_.grids.empty() && options_.blocks.empty() && options_.arguments.empty())
      return false;
    VerifyOptions usual = options_;
    usual.grids.clear();
    usual.blocks.clear();
    usual.arguments.clear();
    return !find_paths(goal, Cases(*left_, usual), true).impossible;
  }

  [[nodiscard]] std::string describe(const Goal& goal) const {
    const Program& program = goal.second ? *right_ : *left_;
    const ptx::Inst& inst = program.codes.front()->body.insts[goal.inst];
    return fmt::format("{}: {}", place_of(program, inst), text_of(program, inst));
  }

private:
  [[nodiscard]] Dim3 divided(const Dim3& grid, const Dim3& by) const {
    const auto groups = [&](std::uint32_t n, std::uint32_t of) {
      return n / of + (options_.rest_by_itself ? n % of : n % of != 0);
    };
    return {groups(grid.x, by.x), groups(grid.y, by.y), groups(grid.z, by.z)};
  }

  // Plain lockstep first.
  std::vector<Schedule> schedules(std::uint64_t index, const VerifyLaunch& launch) const {
    using Kind = Schedule::Kind;
    std::vector<Schedule> all{{Kind::lockstep, 0, 1}};
    if (is_large({launch.grid, launch.block})) {
      all.push_back({Kind::lockstep, index + 1, 2});
      return all;
    }
    all.push_back({Kind::one_lane, index + 1, 1});
    for (unsigned i = 0; i < options_.schedules; ++i) {
      const std::uint64_t seed = index * options_.schedules + i + 1;
      all.push_back({Kind::independent, seed, 1 + i % 3, options_.across_iterations});
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
    constexpr std::uint64_t each = 64;  // steps in which a warp that has nothing to do may leave
    const std::uint64_t warps = launch.grid.count() * launch.block.count() / warp_size;
    const bool rewritten = &program == right_.get();
    const Dim3 divide = rewritten ? options_.divide : Dim3{1};
    std::vector<Argument> arguments = prepared.arguments;
    if (rewritten && options_.original_grid) arguments.push_back(sizes_of(launch.grid));
    LaunchShape shape{divided(launch.grid, divide), launch.block};
    if (rewritten && options_.other_shape)
      shape = options_.other_shape({launch.grid, launch.block}, arguments.emplace_back());
    run.result = simt::run(program,
                           {.grid = shape.grid,
                            .block = shape.block,
                            .dynamic_shared = launch.dynamic_shared,
                            .arguments = std::move(arguments),
                            .schedule = schedule,
                            .budget = (options_.budget + each * warps) * (rewritten ? slower : 1),
                            .report_undefined = watch.undefined,
                            .report_races = watch.races,
                            .coverage = watch.coverage,
                            .observer = watch.observer},
                           run.memory);
    return run;
  }

  Outcome compare(const VerifyLaunch& launch, std::uint64_t index) const {
    Outcome outcome;
    const Prepared prepared = prepare(launch);
    outcome.reason = prepared.error;
    if (!prepared.error.empty()) return outcome;
    const Run first =
        run(*left_, launch, prepared, {}, {.undefined = options_.defined_only, .coverage = true});
    outcome.reason = first.result.message;
    if (!first.result.ok()) return outcome;
    const auto all = schedules(index, launch);
    for (const Schedule& schedule : std::span(all).subspan(1)) {
      const Run again = run(*left_, launch, prepared, schedule);
      if (leave_the_same(first, again)) continue;
      outcome.reason = again.result.ok() ? schedule_decides : again.result.message;
      return outcome;
    }
    outcome.left = first.result.counts;
    outcome.coverage.first = first.result.coverage;
    for (const Schedule& schedule : all) {
      const bool plain = &schedule == &all.front();
      const Run other = run(*right_, launch, prepared, schedule, {.coverage = plain});
      if (plain) {
        outcome.right = other.result.counts;
        outcome.coverage.second = other.result.coverage;
      }
      if (leave_the_same(first, other)) continue;
      const Run races = run(*left_, launch, prepared, schedule, {.races = true});
      if (!races.result.ok()) {
        if (!cases_.is_far_fetched(launch)) outcome.kind = Outcome::Kind::racy;
        outcome.reason = races.result.message;
      } else if (depends_on_schedule(launch, index, prepared, first)) {
        outcome.reason = schedule_decides;
      } else {
        outcome.kind = Outcome::Kind::failed;
        outcome.failure = explain(launch, prepared, schedule, first, other);
      }
      return outcome;
    }
    if (const std::string race = added_race(launch, prepared); !race.empty()) {
      outcome.kind = Outcome::Kind::failed;
      outcome.failure = VerifyFailure{launch, all.front(), race, {}, {}, {}};
      return outcome;
    }
    const bool writes = !first.result.printed.empty() || first.result.counts.global_writes != 0;
    outcome.kind = writes ? Outcome::Kind::equal : Outcome::Kind::idle;
    return outcome;
  }

  static bool leave_the_same(const Run& one, const Run& other) {
    return one.result.ok() && other.result.ok() && !first_difference(one.memory, other.memory) &&
           printed_lines(one.result.printed) == printed_lines(other.result.printed);
  }

  // Sums of floats by atomics may be the same in the few orders above and not in others.
  bool depends_on_schedule(const VerifyLaunch& launch, std::uint64_t index,
                           const Prepared& prepared, const Run& first) const {
    constexpr unsigned more = 16;
    for (unsigned n = 0; n < more; ++n) {
      const Schedule::Kind kind =
          n % 2 == 0 ? Schedule::Kind::lockstep : Schedule::Kind::independent;
      const Run again = run(*left_, launch, prepared, {kind, (index + 1) * more + n, 1 + n % 4});
      if (!leave_the_same(first, again)) return true;
    }
    return false;
  }

  // Where the first version has none: what orders two accesses is gone, whatever came out here.
  std::string added_race(const VerifyLaunch& launch, const Prepared& prepared) const {
    const Run right = run(*right_, launch, prepared, {}, {.races = true});
    if (right.result.ok()) return "";
    const Run left = run(*left_, launch, prepared, {}, {.races = true});
    if (!left.result.ok()) return "";
    return right.result.message + ", which the first version does not have";
  }

  static constexpr std::string_view schedule_decides =
      "the original's result depends on the schedule";

  VerifyFailure explain(const VerifyLaunch& launch, const Prepared& prepared,
                        const Schedule& schedule, const Run& first, const Run& other) const {
    VerifyFailure failure{launch, schedule, other.result.message, {}, {}, {}};
    if (!other.result.ok()) return failure;
    const auto difference = first_difference(first.memory, other.memory);
    if (!difference) {
      failure.what = "different text is printed";
      return failure;
    }
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
  const VerifyOptions& options_;
  Cases cases_;
  std::vector<Goal> goals_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void add(Counts& to, const Counts& from) {
  to.warp_instructions += from.warp_instructions;
  to.thread_instructions += from.thread_instructions;
  to.global_load_requests += from.global_load_requests;
  to.global_load_sectors += from.global_load_sectors;
  to.global_store_requests += from.global_store_requests;
  to.global_store_sectors += from.global_store_sectors;
  to.global_writes += from.global_writes;
  to.shuffles += from.shuffles;
  to.barriers += from.barriers;
}

// Launches in several batches, and what they have shown so far.
class Campaign {
public:
  Campaign(const Verifier& verifier, const VerifyOptions& options)
      : verifier_(verifier), options_(options) {}

  VerifyResult run() {
    std::vector<Case> usual;
    for (; next_ < options_.launches; ++next_)
      usual.push_back({next_});
    run_all(usual);
    for (const Goal& goal : verifier_.goals()) {
      if (result_.failure) break;
      seek(goal);
    }
    result_.out_of_time = verifier_.is_late();
    return std::move(result_);
  }

private:
  void run_all(const std::vector<Case>& cases) {
    std::vector<std::optional<Outcome>> outcomes(cases.size());
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> failed{false};
    const auto work = [&] {
      for (std::uint64_t i = next++; i < outcomes.size() && !failed; i = next++) {
        if (verifier_.is_late()) return;
        outcomes[i] = verifier_.run_one(cases[i]);
        if (options_.watch) options_.watch(++made_, next_);
        if (outcomes[i]->kind == Outcome::Kind::failed) failed = true;
      }
    };
    const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
    std::vector<std::jthread> workers;
    for (unsigned i = 1; i < (options_.threads == 0 ? cores : options_.threads); ++i)
      workers.emplace_back(work);
    work();
    workers.clear();
    for (const auto& outcome : outcomes)
      if (outcome) collect(*outcome);
  }

  void collect(const Outcome& outcome) {
    switch (outcome.kind) {
    case Outcome::Kind::failed:
      if (!result_.failure) result_.failure = outcome.failure;
      return;
    case Outcome::Kind::racy:
      if (result_.races++ == 0) result_.race_reason = outcome.reason;
      [[fallthrough]];
    case Outcome::Kind::left_out:
      if (result_.left_out++ == 0) result_.left_out_reason = outcome.reason;
      return;
    case Outcome::Kind::idle: ++result_.idle; break;
    case Outcome::Kind::equal: ++result_.equal; break;
    }
    add(result_.left, outcome.left);
    add(result_.right, outcome.right);
    coverage_.add(outcome.coverage);
  }

  [[nodiscard]] bool reached(const Goal& goal) const {
    const unsigned wanted = goal.full_warp ? warp_size : 1;
    return coverage_.lanes(goal) >= wanted;
  }

  // Launches made for this goal, if it needs them. What no thread of any launch can reach is no
  // goal, and where no full warp can get, any lane will do.
  void seek(Goal goal) {
    ++result_.goals;
    while (!reached(goal)) {
      ReachingLaunches found;
      if (options_.find_paths && !verifier_.is_late()) found = verifier_.find_paths(goal);
      if (found.impossible && verifier_.is_outside(goal)) {
        ++result_.outside;
        result_.missing.push_back(verifier_.describe(goal) +
                                  " is reached by none of the launches that were given");
        return;
      }
      if (found.impossible) {
        if (!std::exchange(goal.full_warp, false)) {
          --result_.goals;
          return;
        }
        continue;
      }
      std::vector<Case> cases;
      for (const ReachingLaunch& way : found.ways) {
        const unsigned launches_each = Verifier::is_large(way.shape) ? 2 : 4;
        for (unsigned i = 0; i < launches_each; ++i)
          cases.push_back({next_++, &way});
      }
      run_all(cases);
      if (result_.failure || reached(goal)) return;
      result_.missing.push_back(verifier_.describe(goal) + (coverage_.lanes(goal) == 0
                                                                ? " was never executed"
                                                                : " was executed by no full warp"));
      return;
    }
  }

  const Verifier& verifier_;
  const VerifyOptions& options_;
  std::uint64_t next_ = 0; // number of the next launch
  std::atomic<std::uint64_t> made_{0};
  Coverage coverage_;
  VerifyResult result_;
};

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
  const std::size_t appended = options.original_grid || options.other_shape ? 1 : 0;
  if ((*a)->kernel->parameters.size() + appended != (*b)->kernel->parameters.size()) {
    result.error = "the two kernels take different parameters";
    return result;
  }
  const Verifier verifier(*a, *b, options);
  if (!verifier.has_shapes()) {
    result.error = "no block shape fits the kernel";
    return result;
  }
  return Campaign(verifier, options).run();
}

bool VerifyResult::shown() const {
  const bool wrote = equal != 0, most = equal >= left_out;
  return ok() && wrote && most && races == 0 && missing.empty();
}

} // namespace ptxasw::simt
