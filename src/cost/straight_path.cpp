// Opcodes and control bits as `nvdisasm -hex` shows them, the same from sm_70 to sm_120 but for the
// distances of branches.
#include "cost/straight_path.hpp"

#include "numbers/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ptxasw::cost {
namespace {

constexpr std::size_t instruction_bytes = 16;
constexpr unsigned op_exit = 0x94d, op_branch = 0x947, always = 7;
constexpr std::array op_loads{0x980U, 0x981U};          // LD, LDG
constexpr std::array op_stores{0x385U, 0x985U, 0x986U}; // ST, STG
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

// Most stores on a way from each instruction to an exit, or -1; and which instruction is next
// there.
struct Ways {
  explicit Ways(const std::vector<Instruction>& code) : stores(code.size() + 1, -1) {
    next.resize(code.size());
    for (std::size_t n = code.size(); n-- > 0;)
      choose(code[n], n);
  }

  void choose(const Instruction& now, std::size_t n) {
    const bool branch = now.opcode == op_branch;
    next[n] = n + 1;
    if (now.leaves()) {
      stores[n] = 0;
      return;
    }
    if (branch) {
      const auto target = static_cast<std::int64_t>(n + 1) +
                          now.bytes / static_cast<std::int64_t>(instruction_bytes);
      const bool ahead =
          target > static_cast<std::int64_t>(n) && target < static_cast<std::int64_t>(next.size());
      if (ahead &&
          (now.guard == always || stores[static_cast<std::size_t>(target)] > stores[n + 1]))
        next[n] = static_cast<std::size_t>(target);
      if (!ahead && now.guard == always) return;
    }
    stores[n] = stores[next[n]];
    if (stores[n] >= 0 && now.stores()) ++stores[n];
  }

  std::vector<int> stores;
  std::vector<std::size_t> next;
};

} // namespace

std::optional<StraightPath> straight_path(std::string_view code, double load_latency) {
  const std::vector<Instruction> instructions = decode(code);
  const Ways ways(instructions);
  if (ways.stores.front() < 0) return std::nullopt;
  StraightPath path;
  std::array<double, barriers> raised{};
  for (std::size_t n = 0;; n = ways.next[n]) {
    const Instruction& now = instructions[n];
    ++path.instructions;
    for (std::size_t b = 0; b < barriers; ++b)
      if ((now.wait >> b & 1U) != 0) path.latency = std::max(path.latency, raised[b]);
    if (now.loads()) ++path.loads;
    if (now.stores()) ++path.stores;
    if (now.write_barrier < barriers) {
      double& barrier = raised[now.write_barrier];
      barrier = std::max(barrier, path.latency + (now.loads() ? load_latency : other_latency));
    }
    if (now.read_barrier < barriers) {
      double& barrier = raised[now.read_barrier];
      barrier = std::max(barrier, path.latency + read_latency);
    }
    path.latency += std::max(1U, now.stall);
    if (now.leaves()) return path;
  }
}

} // namespace ptxasw::cost
