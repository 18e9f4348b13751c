// The long mode of the fuzzer:
//
//   fuzz --minutes=N [--from=SEED] [--count=N] [--jobs=N] [--out=DIRECTORY] [--only=REWRITE]
//   fuzz --show=SEED [--only=trees]         the kernel of a seed, to standard output
//   fuzz --file=FILE [--count=N]            the kernel `k` of a PTX file in the place of made ones:
//                                           seeds then differ in launches and in what is forced
//
// Failing kernels are made small and written to DIRECTORY as SEED.ptx. Ends with one line of
// figures; exit code 1 if anything failed. REWRITE is shuffled, coarsened, remapped, shipped: what
// a user gets, with ptxas to ask; trees: --warp-reduce and --loop-carry, on kernels made for them;
// versions: all entries of --variants, launched as the launcher would.
// Without it the first three are run, which force what they do.
#include "fuzz/check.hpp"
#include "fuzz/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string_view>
#include <thread>

namespace {

using namespace ptxasw::fuzz;
using Clock = std::chrono::steady_clock;

struct Wanted {
  double minutes = 1;
  std::uint64_t from = 1, count = ~std::uint64_t{0};
  unsigned jobs = std::max(std::thread::hardware_concurrency(), 1U);
  std::string out = ".";
  std::uint64_t show = 0;
  std::string only; // one of `names`; empty: every rewrite
  std::string text; // of --file
};
constexpr std::array all_rewrites{Rewrite::shuffle, Rewrite::coarsen, Rewrite::remap,
                                  Rewrite::shipped, Rewrite::trees,   Rewrite::versions};
constexpr std::array<std::string_view, std::size(all_rewrites)> names{
    "shuffled", "coarsened", "remapped", "shipped", "trees", "versions"};

std::string kernel_of(std::uint64_t seed, const Wanted& wanted) {
  if (!wanted.text.empty()) return wanted.text;
  return wanted.only == "trees" ? generate_trees(seed) : generate(seed);
}

bool read(Wanted& wanted, std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = argument.substr(0, equals);
  const std::string value(argument.substr(equals + 1));
  if (name == "--minutes")
    wanted.minutes = std::strtod(value.c_str(), nullptr);
  else if (name == "--from")
    wanted.from = std::strtoull(value.c_str(), nullptr, 10);
  else if (name == "--count")
    wanted.count = std::strtoull(value.c_str(), nullptr, 10);
  else if (name == "--jobs")
    wanted.jobs = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
  else if (name == "--out")
    wanted.out = value;
  else if (name == "--file") {
    std::ifstream file(value, std::ios::binary);
    wanted.text.assign(std::istreambuf_iterator<char>(file), {});
    return !wanted.text.empty();
  } else if (name == "--show")
    wanted.show = std::strtoull(value.c_str(), nullptr, 10);
  else if (name == "--only" && std::ranges::find(names, value) != names.end())
    wanted.only = value;
  else
    return false;
  return true;
}

class Session {
public:
  explicit Session(const Wanted& wanted)
      : wanted_(wanted), next_(wanted.from),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(wanted.minutes * 60))) {}

  int run() {
    {
      std::vector<std::jthread> workers;
      for (unsigned i = 0; i < std::max(wanted_.jobs, 1U); ++i)
        workers.emplace_back([this] { work(); });
    }
    fmt::print("{} kernels, seeds {} to {}\n", kernels_, wanted_.from, wanted_.from + kernels_ - 1);
    for (std::size_t i = 0; i < totals_.size(); ++i)
      print(names[i], totals_[i]);
    fmt::print("{} different\n", failures_);
    return failures_ == 0 ? 0 : 1;
  }

private:
  void work() {
    for (std::uint64_t seed = next_++; Clock::now() < end_ && seed - wanted_.from < wanted_.count;
         seed = next_++) {
      const std::string text = kernel_of(seed, wanted_);
      for (std::size_t i = 0; i < totals_.size(); ++i) {
        const bool forced = i < std::size(rewrites);
        if (wanted_.only.empty() ? !forced : wanted_.only != names[i]) continue;
        const Round round = check(text, seed, all_rewrites[i]);
        const std::lock_guard lock(mutex_);
        add(totals_[i], round);
        if (!round.problem.empty()) report(text, seed, all_rewrites[i], round.problem);
      }
      const std::lock_guard lock(mutex_);
      ++kernels_;
    }
  }

  struct Totals {
    std::uint64_t rewritten = 0, loads = 0, covered = 0, equal = 0, left_out = 0;
    std::uint64_t in_registers = 0, rotated = 0;
  };
  static void add(Totals& to, const Round& round) {
    to.rewritten += round.rewritten.empty() ? 0 : 1;
    to.loads += round.loads;
    to.covered += round.covered;
    to.equal += round.equal;
    to.left_out += round.left_out;
    to.in_registers += round.in_registers ? 1 : 0;
    to.rotated += round.rotated ? 1 : 0;
  }
  static void print(std::string_view how, const Totals& totals) {
    fmt::print("{} {}: {} of {} loads covered, {} launches compared, {} left out\n",
               totals.rewritten, how, totals.covered, totals.loads, totals.equal, totals.left_out);
    if (how == "trees")
      fmt::print("{} with trees in registers, {} with rotated loops\n", totals.in_registers,
                 totals.rotated);
  }

  void report(const std::string& text, std::uint64_t seed, Rewrite rewrite,
              const std::string& problem) {
    ++failures_;
    const auto say = [&](std::string_view kernel, const std::string& what) {
      fmt::print("seed {}, {}, {}: {}\n", seed, names[static_cast<std::size_t>(rewrite)], kernel,
                 what);
      std::fflush(stdout); // whoever limits the time may end this before it is small
    };
    say("as made", problem);
    const std::string small = shrink(
        text, [&](const std::string& t) { return !check(t, seed, rewrite).problem.empty(); });
    const std::filesystem::path file =
        std::filesystem::path(wanted_.out) / fmt::format("{}.ptx", seed);
    std::ofstream(file) << small;
    say(file.string(), check(small, seed, rewrite).problem);
  }

  Wanted wanted_;
  std::atomic<std::uint64_t> next_;
  Clock::time_point end_;
  std::mutex mutex_;
  std::array<Totals, std::size(all_rewrites)> totals_; // by kind of rewrite
  std::uint64_t kernels_ = 0, failures_ = 0;
};

} // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  for (int i = 1; i < count; ++i) {
    if (read(wanted, arguments[i])) continue;
    fmt::print(stderr,
               "usage: fuzz [--minutes=N] [--from=SEED] [--count=N] [--jobs=N] "
               "[--out=DIRECTORY] [--only=shuffled|coarsened|remapped|shipped|trees|versions] "
               "[--file=FILE] | --show=SEED\n");
    return 2;
  }
  if (wanted.show != 0) {
    fmt::print("{}", kernel_of(wanted.show, wanted));
    return 0;
  }
  return Session(wanted).run();
}
