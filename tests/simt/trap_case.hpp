// The trap kernels of tests/traps and how to hold a rewrite to them.
//
//   for (const TrapCase& trap : all_traps())
//     EXPECT_EQ(compare(trap, rewritten_text), "");
//
// The first lines of a trap say how to launch it and what memory holds before; compare() runs the
// original and the other text under every schedule and compares all of memory.
#pragma once

#include "ptx/parse.hpp"
#include "simt/machine.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::simt {

struct TrapCase {
  std::string name; // of the file and of its kernel: "h01_block16x16"
  std::string text;
  Dim3 grid, block;
  std::vector<std::string> arguments; // "in", "in+17179869184", "out", "x", or a number
  std::string memory;                 // the MEMORY line
};
inline void PrintTo(const TrapCase& trap, std::ostream* out) {
  *out << trap.name;
}

namespace trap_detail {

inline std::string line_after(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

inline Dim3 read_dim(const std::string& launch, std::string_view key) {
  std::istringstream in(launch.substr(launch.find(key) + key.size()));
  Dim3 dim;
  char x = 0;
  in >> dim.x >> x >> dim.y >> x >> dim.z;
  return dim;
}

// Words k = from .. from + count - 1 at base + 4 * k.
inline void place_words(Memory& memory, const std::string& name, std::uint64_t base, int from,
                        int count, const std::function<std::uint32_t(int)>& value) {
  std::vector<std::uint8_t> data(4 * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const std::uint32_t word = value(from + i);
    std::memcpy(&data[4 * static_cast<std::size_t>(i)], &word, 4);
  }
  memory.place(name, base + static_cast<std::uint64_t>(4 * std::int64_t{from}), std::move(data));
}

inline constexpr std::uint64_t in_base = std::uint64_t{1} << 40;
inline constexpr std::uint64_t out_base = std::uint64_t{2} << 40;
inline constexpr std::uint64_t x_base = std::uint64_t{3} << 40;
inline constexpr int first_word = -1024, words = 8192;

inline std::uint64_t argument_bits(const std::string& text) {
  const std::size_t plus = text.find('+');
  const std::string name = text.substr(0, plus);
  const std::uint64_t offset = plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1));
  if (name == "in") return in_base + offset;
  if (name == "out") return out_base + offset;
  if (name == "x") return x_base + offset;
  return std::stoull(name);
}

} // namespace trap_detail

inline TrapCase read_trap(const std::filesystem::path& path) {
  using namespace trap_detail;
  std::ifstream in(path);
  TrapCase trap;
  trap.name = path.stem().string();
  trap.text.assign(std::istreambuf_iterator<char>(in), {});
  const std::string launch = line_after(trap.text, "// LAUNCH:");
  trap.memory = line_after(trap.text, "// MEMORY:");
  trap.grid = read_dim(launch, "grid=");
  trap.block = read_dim(launch, "block=");
  std::istringstream arguments(launch.substr(launch.find("args=") + 5));
  for (std::string argument; std::getline(arguments, argument, ',');)
    trap.arguments.push_back(argument);
  return trap;
}

inline std::vector<TrapCase> all_traps() {
  std::vector<TrapCase> traps;
  for (const auto& entry : std::filesystem::directory_iterator(PTXASW_SOURCE_DIR "/tests/traps"))
    if (entry.path().extension() == ".ptx") traps.push_back(read_trap(entry.path()));
  std::ranges::sort(traps, {}, &TrapCase::name);
  return traps;
}

inline Memory memory_of(const TrapCase& trap) {
  using namespace trap_detail;
  const auto says = [&](std::string_view what) {
    return trap.memory.find(what) != std::string::npos;
  };
  Memory memory;
  place_words(memory, "in", in_base, first_word, words,
              [](int k) { return static_cast<std::uint32_t>(7 * k + 3); });
  const bool twos = says("out[k] = 2 for k in 0..63");
  place_words(memory, "out", out_base, first_word, words,
              [&](int k) { return twos && k >= 0 && k < 64 ? 2U : 0U; });
  const bool thirds = says("x[k] = k % 3 for k in 0..63");
  place_words(memory, "x", x_base, first_word, words, [&](int k) {
    return thirds && k >= 0 && k < 64 ? static_cast<std::uint32_t>(k % 3) : 0U;
  });
  if (says("in is placed 16 GiB up")) {
    const auto above = [](std::uint32_t from) {
      return [from](int k) { return from + static_cast<std::uint32_t>(k); };
    };
    place_words(memory, "in+2^34", in_base + (std::uint64_t{1} << 34), -64, 128, above(5000));
    place_words(memory, "in+2^35", in_base + (std::uint64_t{1} << 35), -64, 128, above(9000));
  }
  return memory;
}

struct TrapRun {
  Result result;
  Memory memory;
};

// Runs the trap's kernel as it stands in `text`.
inline TrapRun run_trap(const TrapCase& trap, const std::string& text, const Schedule& schedule) {
  TrapRun ran{{}, memory_of(trap)};
  const auto program =
      compile(std::make_shared<const ptx::Module>(ptx::parse(text, trap.name + ".ptx")), trap.name);
  if (!program) {
    ran.result.status = Result::Status::unsupported;
    ran.result.message = program.error();
    return ran;
  }
  Launch launch{.grid = trap.grid, .block = trap.block, .schedule = schedule};
  for (const std::string& argument : trap.arguments)
    launch.arguments.push_back(value(trap_detail::argument_bits(argument)));
  ran.result = run(**program, launch, ran.memory);
  return ran;
}

inline std::vector<Schedule> trap_schedules() {
  using Kind = Schedule::Kind;
  std::vector<Schedule> all{{Kind::lockstep, 0, 1}, {Kind::one_lane, 0, 1}, {Kind::one_lane, 5, 1}};
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    all.push_back({Kind::independent, seed, 1});
  return all;
}

// Empty, or what differs. A trap whose original gives different results under different schedules
// has a race; it is compared in lockstep only.
inline std::string compare(const TrapCase& trap, const std::string& text,
                           const std::vector<Schedule>& schedules = trap_schedules()) {
  const TrapRun expected = run_trap(trap, trap.text, {});
  if (!expected.result.ok()) return "the original: " + expected.result.message;
  for (const Schedule& schedule : schedules) {
    const TrapRun original = run_trap(trap, trap.text, schedule);
    if (!original.result.ok() || first_difference(expected.memory, original.memory)) continue;
    const TrapRun other = run_trap(trap, text, schedule);
    if (!other.result.ok()) return fmt::format("{}: {}", schedule.options(), other.result.message);
    if (const auto d = first_difference(expected.memory, other.memory))
      return fmt::format("{}: byte {} of {} is {}, not {}", schedule.options(), d->offset,
                         d->allocation, d->right, d->left);
  }
  return {};
}

} // namespace ptxasw::simt
