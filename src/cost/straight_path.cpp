// Opcodes and control bits as `nvdisasm -hex` shows them, the same from sm_70 to sm_120 but for the
// distances of branches.
#include "cost/straight_path.hpp"

#include "numbers/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace ptxasw::cost {
namespace {

constexpr std::size_t instruction_bytes = 16;
constexpr unsigned op_exit = 0x94d, op_branch = 0x947, always = 7;
constexpr std::array op_loads{0x980U, 0x981U};          // LD, LDG
constexpr std::array op_stores{0x385U, 0x985U, 0x986U}; // ST, STG
using numbers::model::hit_latency;
using numbers::model::miss_latency;
using numbers::model::other_latency;
using numbers::model::read_latency;
constexpr std::size_t barriers = 6; // scoreboards of a warp; 7 in the code means none
// A branch to itself, which fills the end of every function, up to sm_89 and since.
constexpr std::uint64_t loop_before = 0xfffffff000007947, loop_since = 0xfffffffc00fc7947;

struct Instruction {
  unsigned opcode = 0, guard = 0, stall = 0, write_barrier = 0, read_barrier = 0, wait = 0;
  std::int64_t bytes = 0; // from behind a branch to where it leads

  [[nodiscard]] bool loads() const { return std::ranges::count(op_loads, opcode) != 0; }
  [[nodiscard]] bool stores() const { return std::ranges::count(op_stores, opcode) != 0; }
  [[nodiscard]] bool leaves() const { return opcode == op_exit && guard == always; }
};

Instruction decode(std::uint64_t low, std::uint64_t high, bool in_words) {
  const auto bits = [](std::uint64_t word, unsigned first, unsigned count) {
    return static_cast<unsigned>(word >> first) & ((1U << count) - 1);
  };
  // A signed number of 50 bits from bit 32 on: of bytes, or since sm_90, without its last two bits,
  // of 256 words, with the words themselves in bits 16 to 23.
  const auto far = static_cast<std::int64_t>((low >> 32 | high << 32) << 14) >> 14;
  const std::int64_t bytes = in_words ? (far >> 2) * 1024 + bits(low, 16, 8) * 4 : far;
  return {bits(low, 0, 12),
          bits(low, 12, 4),
          bits(high, 41, 4),
          bits(high, 46, 3),
          bits(high, 49, 3),
          bits(high, 52, 6),
          bytes};
}

std::vector<Instruction> decode(std::string_view code) {
  std::vector<std::array<std::uint64_t, 2>> words(code.size() / instruction_bytes);
  if (words.empty()) return {};
  std::memcpy(words.data(), code.data(), words.size() * instruction_bytes);
  const auto has = [&](std::uint64_t loop) {
    return std::ranges::any_of(words, [&](const auto& word) { return word[0] == loop; });
  };
  const bool in_words = has(loop_since) && !has(loop_before);
  std::vector<Instruction> result;
  for (const auto& [low, high] : words)
    result.push_back(decode(low, high, in_words));
  return result;
}

// Where a branch may lead to, if anywhere in this code.
std::optional<std::size_t> target_of(const Instruction& now, std::size_t n, std::size_t count) {
  if (now.opcode != op_branch) return std::nullopt;
  const auto target =
      static_cast<std::int64_t>(n + 1) + now.bytes / static_cast<std::int64_t>(instruction_bytes);
  if (target < 0 || target >= static_cast<std::int64_t>(count)) return std::nullopt;
  return static_cast<std::size_t>(target);
}

std::optional<std::size_t> target_ahead(const Instruction& now, std::size_t n, std::size_t count) {
  const auto target = target_of(now, n, count);
  return target && *target > n ? target : std::nullopt;
}

// What stands between where a branch leads back to and itself, if it is one of a loop.
std::span<const Instruction> trip_that_ends(std::span<const Instruction> code, std::size_t n) {
  const auto first = target_of(code[n], n, code.size());
  if (!first || *first >= n) return {};
  return code.subspan(*first, n + 1 - *first);
}

// Most stores on a way from each instruction to an exit, or -1; and which instruction is next
// there.
struct Ways {
  explicit Ways(const std::vector<Instruction>& code) : stores(code.size() + 1, -1) {
    next.resize(code.size());
    for (std::size_t n = code.size(); n-- > 0;)
      choose(code[n], n);
  }

  void choose(const Instruction& now, std::size_t n) {
    next[n] = n + 1;
    if (now.leaves()) {
      stores[n] = 0;
      return;
    }
    const auto target = target_ahead(now, n, next.size());
    if (target && (now.guard == always || stores[*target] > stores[n + 1])) next[n] = *target;
    if (!target && now.opcode == op_branch && now.guard == always) return;
    stores[n] = stores[next[n]];
    if (stores[n] >= 0 && now.stores()) ++stores[n];
  }

  std::vector<int> stores;
  std::vector<std::size_t> next;
};

// Fewest instructions on a way from each instruction to an exit, behind a store and ahead of all.
class Shortest {
public:
  explicit Shortest(const std::vector<Instruction>& code) : ways_(code.size() + 1) {
    for (std::size_t n = code.size(); n-- > 0;)
      for (const bool has_stored : {false, true})
        choose(code[n], n, has_stored);
  }
  [[nodiscard]] bool is_there() const { return ways_.front()[0].count < nowhere; }
  [[nodiscard]] std::size_t next(std::size_t n, bool has_stored) const {
    return ways_[n][has_stored ? 1 : 0].next;
  }

private:
  static constexpr unsigned nowhere = ~0U;
  struct Way {
    unsigned count = nowhere;
    std::size_t next = 0;
  };

  void choose(const Instruction& now, std::size_t n, bool has_stored) {
    Way& way = ways_[n][has_stored ? 1 : 0];
    if (now.leaves()) {
      if (has_stored) way.count = 1;
      return;
    }
    const unsigned behind = has_stored || now.stores() ? 1 : 0;
    const auto take = [&](std::size_t to) {
      if (const unsigned count = ways_[to][behind].count; count < nowhere && count + 1 < way.count)
        way = {count + 1, to};
    };
    const bool is_branch = now.opcode == op_branch;
    if (!is_branch || now.guard != always) take(n + 1);
    if (const auto target = target_ahead(now, n, ways_.size() - 1)) take(*target);
  }

  std::vector<std::array<Way, 2>> ways_;
};

// A warp that runs alone: what it has waited for when it is through with each instruction.
class Clock {
public:
  explicit Clock(double load_latency) : load_latency_(load_latency) {}

  void pass(const Instruction& now) {
    for (std::size_t b = 0; b < barriers; ++b)
      if ((now.wait >> b & 1U) != 0) cycles_ = std::max(cycles_, raised_[b]);
    raise(now.write_barrier, now.loads() ? load_latency_ : other_latency);
    raise(now.read_barrier, read_latency);
    cycles_ += std::max(1U, now.stall);
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

// `next(n, has_stored)`: the instruction behind the n-th.
template <class Next>
StraightPath timed(const std::vector<Instruction>& code, double load_latency, Next next) {
  StraightPath path;
  Clock clock(load_latency);
  for (std::size_t n = 0;; n = next(n, path.stores > 0)) {
    const Instruction& now = code[n];
    ++path.instructions;
    if (now.loads()) ++path.loads;
    clock.pass(now);
    path.latency = clock.cycles();
    if (now.leaves()) return path;
    if (now.stores()) ++path.stores;
  }
}

// What a second trip adds: it waits for what the first has begun, as all behind it do.
double latency_of(std::span<const Instruction> trip, double load_latency) {
  Clock clock(load_latency);
  double first = 0;
  for (const bool is_second : {false, true}) {
    if (is_second) first = clock.cycles();
    std::ranges::for_each(trip, [&](const Instruction& now) { clock.pass(now); });
  }
  return clock.cycles() - first;
}

std::uint64_t schedule_of(std::span<const Instruction> trip) {
  std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const Instruction& now : trip)
    for (const unsigned part :
         {now.opcode, now.guard, now.stall, now.write_barrier, now.read_barrier, now.wait})
      hash = (hash ^ part) * 0x100000001b3;
  return hash;
}

LoopPath path_of(std::span<const Instruction> trip) {
  return {.instructions = static_cast<unsigned>(trip.size()),
          .loads = static_cast<unsigned>(std::ranges::count_if(trip, &Instruction::loads)),
          .latency = latency_of(trip, hit_latency),
          .misses = latency_of(trip, miss_latency),
          .schedule = schedule_of(trip)};
}

} // namespace

std::optional<StraightPath> straight_path(std::string_view code, double load_latency) {
  const std::vector<Instruction> instructions = decode(code);
  const Ways ways(instructions);
  if (ways.stores.front() < 0) return std::nullopt;
  LoopPath widest;
  std::size_t around = 0; // whatever begins here or before is around another loop
  StraightPath path = timed(instructions, load_latency, [&](std::size_t n, bool) {
    if (const auto trip = trip_that_ends(instructions, n); !trip.empty()) {
      const auto first = static_cast<std::size_t>(trip.data() - instructions.data());
      const LoopPath loop = path_of(trip);
      if (first >= around && loop.loads > widest.loads) widest = loop;
      around = n;
    }
    return ways.next[n];
  });
  path.loop = widest;
  return path;
}

std::optional<StraightPath> shortest_path(std::string_view code, double load_latency) {
  const std::vector<Instruction> instructions = decode(code);
  const Shortest ways(instructions);
  if (!ways.is_there()) return std::nullopt;
  return timed(instructions, load_latency,
               [&, has_stored = false](std::size_t n, bool stores) mutable {
                 return ways.next(n, std::exchange(has_stored, stores));
               });
}

std::vector<LoopPath> loop_paths(std::string_view code) {
  const std::vector<Instruction> instructions = decode(code);
  std::vector<LoopPath> loops;
  for (std::size_t n = 0; n < instructions.size(); ++n)
    if (const auto trip = trip_that_ends(instructions, n); !trip.empty())
      loops.push_back(path_of(trip));
  return loops;
}

} // namespace ptxasw::cost
