// Opcodes that are the same from sm_70 to sm_120.
#include "oracle/straight_path.hpp"

#include "target/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ptxasw::oracle {
namespace {

using numbers::model::hit_latency;
using numbers::model::other_latency;
using numbers::model::read_latency;
using sass::Instruction;

constexpr std::array op_loads{0x980U, 0x981U};          // LD, LDG
constexpr std::array op_stores{0x385U, 0x985U, 0x986U}; // ST, STG
constexpr std::size_t barriers = 6; // scoreboards of a warp; 7 in the code means none

bool loads(const Instruction& now) {
  return std::ranges::count(op_loads, now.opcode) != 0;
}
bool stores(const Instruction& now) {
  return std::ranges::count(op_stores, now.opcode) != 0;
}
bool ends(const Instruction& now) {
  return now.branch.ends && now.branch.leaves;
}

// Where a branch may lead to, if anywhere in this code.
std::optional<std::size_t> target_of(const Instruction& now, std::size_t n, std::size_t count) {
  if (!now.branch.jumps) return std::nullopt;
  const auto target = static_cast<std::int64_t>(n + 1) + now.branch.distance;
  if (target < 0 || target >= static_cast<std::int64_t>(count)) return std::nullopt;
  return static_cast<std::size_t>(target);
}

std::optional<std::size_t> target_ahead(const Instruction& now, std::size_t n, std::size_t count) {
  const auto target = target_of(now, n, count);
  return target && *target > n ? target : std::nullopt;
}

// What stands between where a branch leads back to and itself, if it is one of a loop.
std::span<const Instruction> iteration_that_ends(std::span<const Instruction> code, std::size_t n) {
  const auto first = target_of(code[n], n, code.size());
  if (!first || *first >= n) return {};
  return code.subspan(*first, n + 1 - *first);
}

// Most stores on a way from each instruction to an exit, or -1; and which instruction is next
// there.
struct Successors {
  explicit Successors(std::span<const Instruction> code) : most(code.size() + 1, -1) {
    next.resize(code.size());
    for (std::size_t n = code.size(); n-- > 0;)
      choose(code[n], n);
  }

  void choose(const Instruction& now, std::size_t n) {
    next[n] = n + 1;
    if (ends(now)) {
      most[n] = 0;
      return;
    }
    const auto target = target_ahead(now, n, next.size());
    if (target && (now.branch.leaves || most[*target] > most[n + 1])) next[n] = *target;
    if (!target && now.branch.leaves) return;
    most[n] = most[next[n]];
    if (most[n] >= 0 && stores(now)) ++most[n];
  }

  std::vector<int> most;
  std::vector<std::size_t> next;
};

// A warp that runs alone: what it has waited for when it is through with each instruction.
class Clock {
public:
  explicit Clock(double load_latency) : load_latency_(load_latency) {}

  void pass(const Instruction& now) {
    for (std::size_t b = 0; b < barriers; ++b)
      if ((now.schedule.wait >> b & 1U) != 0) cycles_ = std::max(cycles_, raised_[b]);
    raise(now.schedule.write_barrier, loads(now) ? load_latency_ : other_latency);
    raise(now.schedule.read_barrier, read_latency);
    cycles_ += std::max(1U, now.schedule.stall);
  }
  [[nodiscard]] double cycles() const { return cycles_; }

private:
  void raise(unsigned barrier, double latency) {
    if (barrier < barriers) raised_[barrier] = std::max(raised_[barrier], cycles_ + latency);
  }

  double load_latency_;
  double cycles_ = 0;
  std::array<double, barriers> raised_{};
};

// What a second trip adds: it waits for what the first has begun, as all behind it do.
double latency_of(std::span<const Instruction> iteration, double load_latency) {
  Clock clock(load_latency);
  double first = 0;
  for (const bool is_second : {false, true}) {
    if (is_second) first = clock.cycles();
    std::ranges::for_each(iteration, [&](const Instruction& now) { clock.pass(now); });
  }
  return clock.cycles() - first;
}

LoopPath path_of(std::span<const Instruction> iteration) {
  return {.instructions = static_cast<unsigned>(iteration.size()),
          .loads = static_cast<unsigned>(std::ranges::count_if(iteration, loads)),
          .latency = latency_of(iteration, hit_latency)};
}

std::optional<StraightPath> path_along(std::span<const Instruction> code, const Successors& ways,
                                       double load_latency) {
  if (ways.most.front() < 0) return std::nullopt;
  StraightPath path;
  std::size_t around = 0; // whatever begins here or before is around another loop
  Clock clock(load_latency);
  for (std::size_t n = 0;; n = ways.next[n]) {
    const Instruction& now = code[n];
    ++path.instructions;
    if (loads(now)) ++path.loads;
    clock.pass(now);
    path.latency = clock.cycles();
    if (ends(now)) return path;
    if (stores(now)) ++path.stores;
    if (const auto iteration = iteration_that_ends(code, n); !iteration.empty()) {
      const auto first = static_cast<std::size_t>(iteration.data() - code.data());
      const LoopPath loop = path_of(iteration);
      if (first >= around && loop.loads > path.loop.loads) path.loop = loop;
      around = n;
    }
  }
}

} // namespace

std::optional<StraightPath> straight_path(std::span<const Instruction> code, double load_latency) {
  return path_along(code, Successors(code), load_latency);
}

std::optional<StraightPath> other_path(std::span<const Instruction> code, double load_latency) {
  Successors ways(code);
  const auto branch = std::ranges::find_if(
      code, [](const Instruction& now) { return now.branch.jumps || now.branch.ends; });
  if (branch == code.end()) return std::nullopt;
  const auto n = static_cast<std::size_t>(branch - code.begin());
  const auto target = target_ahead(*branch, n, code.size());
  if (!target) return std::nullopt;
  ways.next[n] = ways.next[n] == *target ? n + 1 : *target;
  if (ways.most[ways.next[n]] < 0) return std::nullopt;
  return path_along(code, ways, load_latency);
}

} // namespace ptxasw::oracle
