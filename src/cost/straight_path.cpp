// Opcodes and control bits as `nvdisasm -hex` shows them, the same from sm_70 to sm_120.
#include "cost/straight_path.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace ptxasw::cost {
namespace {

constexpr std::size_t instruction_bytes = 16;
constexpr unsigned op_exit = 0x94d, always = 7;
constexpr std::array op_loads{0x980U, 0x981U};          // LD, LDG
constexpr std::array op_stores{0x385U, 0x985U, 0x986U}; // ST, STG
constexpr double other_latency = 35; // special functions, constants, shared memory
constexpr double read_latency = 15;  // until a store has read its sources
constexpr std::size_t barriers = 6;  // scoreboards of a warp; 7 in the code means none

struct Control {
  unsigned opcode, guard, stall, write_barrier, read_barrier, wait;
};

Control decode(const char* at) {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, at, sizeof low);
  std::memcpy(&high, at + sizeof low, sizeof high);
  const auto bits = [](std::uint64_t word, unsigned first, unsigned count) {
    return static_cast<unsigned>(word >> first) & ((1U << count) - 1);
  };
  return {bits(low, 0, 12),  bits(low, 12, 4),  bits(high, 41, 4),
          bits(high, 46, 3), bits(high, 49, 3), bits(high, 52, 6)};
}

template <std::size_t N> bool is_one_of(const std::array<unsigned, N>& list, unsigned opcode) {
  return std::ranges::find(list, opcode) != list.end();
}

} // namespace

StraightPath straight_path(std::string_view code, double load_latency) {
  StraightPath path;
  std::array<double, barriers> raised{};
  for (std::size_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes) {
    const Control now = decode(code.data() + at);
    ++path.instructions;
    for (std::size_t b = 0; b < barriers; ++b)
      if ((now.wait >> b & 1U) != 0) path.latency = std::max(path.latency, raised[b]);
    const bool loads = is_one_of(op_loads, now.opcode);
    if (loads) ++path.loads;
    if (is_one_of(op_stores, now.opcode)) ++path.stores;
    if (now.write_barrier < barriers) {
      double& barrier = raised[now.write_barrier];
      barrier = std::max(barrier, path.latency + (loads ? load_latency : other_latency));
    }
    if (now.read_barrier < barriers) {
      double& barrier = raised[now.read_barrier];
      barrier = std::max(barrier, path.latency + read_latency);
    }
    path.latency += std::max(1U, now.stall);
    if (now.opcode == op_exit && now.guard == always) return path;
  }
  return {};
}

} // namespace ptxasw::cost
