// What the launcher itself takes for a launch: nanoseconds, and cycles of the time stamp counter,
// of Engine::launch with a driver that does nothing; and with one that reads as much memory as
// fills the first cache, as a driver does, what a launch through the launcher takes longer than
// around it. Under --steps also what launches cost that are looked at and not merged. A program, no
// test.
#include "passes_case.hpp"
#include "stencil.hpp"

#include "launch/waiting/trampolines.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

using namespace ptxasw;
using namespace ptxasw::launch;

volatile unsigned seen;
std::vector<unsigned char> displaced(std::size_t{96} << 10);

class Nothing final : public Launch {
public:
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<Nothing>();
  }
  [[gnu::noinline]] CUresult operator()(const Request& request) const override {
    seen = request.grid[0];
    return CUDA_SUCCESS;
  }
};

class Displacing final : public Launch {
public:
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<Displacing>();
  }
  [[gnu::noinline]] CUresult operator()(const Request& request) const override {
    unsigned sum = request.grid[0];
    for (std::size_t at = 0; at < displaced.size(); at += 64)
      sum += displaced[at];
    seen = sum;
    return CUDA_SUCCESS;
  }
};

template <class Do> double nanoseconds_of(unsigned launches, const Do& launch) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned n = 0; n < launches; ++n)
    launch();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / launches;
}

void measure_displaced(const char* what, const std::string& settings, const Request& request) {
  constexpr unsigned rounds = 201, launches = 1000;
  Engine engine(read_settings(settings));
  const Displacing displacing;
  std::vector<double> longer;
  for (unsigned round = 0; round < rounds; ++round) {
    const double around = nanoseconds_of(launches, [&] { displacing(request); });
    longer.push_back(nanoseconds_of(launches, [&] { engine.launch(request, displacing); }) -
                     around);
  }
  std::ranges::sort(longer);
  std::printf("%-20s %6.1f ns more, where the first cache is displaced\n", what,
              longer[rounds / 2]);
}

void measure(const char* what, const std::string& settings, const Request& request) {
  constexpr unsigned rounds = 41, launches = 20000;
  Engine engine(read_settings(settings));
  const Nothing nothing;
  std::vector<double> nanoseconds, cycles;
  for (unsigned round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto ticks = __rdtsc();
    for (unsigned n = 0; n < launches; ++n)
      engine.launch(request, nothing);
    cycles.push_back(static_cast<double>(__rdtsc() - ticks) / launches);
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    nanoseconds.push_back(taken.count() / launches);
  }
  std::ranges::sort(nanoseconds);
  std::printf("%-20s %6.1f ns (least %.1f), %4.0f cycles\n", what, nanoseconds[rounds / 2],
              nanoseconds[0], *std::ranges::min_element(cycles));
}

// Of a process: its first ones are compared, for sequences (seen.hpp).
void measure_first(const char* what, const std::string& settings, const Request& request) {
  constexpr unsigned rounds = 21, launches = 10000;
  const Nothing nothing;
  std::vector<double> nanoseconds;
  for (unsigned round = 0; round < rounds; ++round) {
    Engine engine(read_settings(settings));
    nanoseconds.push_back(nanoseconds_of(launches, [&] { engine.launch(request, nothing); }));
  }
  std::ranges::sort(nanoseconds);
  std::printf("%-34s %6.1f ns a launch\n", what, nanoseconds[rounds / 2]);
}

// Launches that go through do so in hooks.cpp, which is not measured here: they cost nothing.
class Passed final : public Launch {
public:
  [[nodiscard]] std::unique_ptr<const Launch> copy() const override {
    return std::make_unique<Nothing>();
  }
  [[gnu::noinline]] CUresult operator()(const Request& request) const override {
    seen = request.grid[0];
    return CUDA_SUCCESS;
  }
  void pass_from_now_on(const Request&, std::uint64_t, std::uint64_t times) const override {
    left = times;
  }
  mutable std::uint64_t left = 0;
};

// Runs of so many steps, each behind another call of the driver; or all with the same arguments.
void measure_runs(const char* what, unsigned length, bool moves) {
  constexpr unsigned rounds = 41, launches = 5040;
  test::Stencil s;
  const Passed passed;
  std::vector<double> nanoseconds;
  unsigned n = 0;
  for (unsigned round = 0; round < rounds; ++round)
    nanoseconds.push_back(nanoseconds_of(launches, [&] {
      if (passed.left != 0 && !is_waiting()) {
        --passed.left;
        passed(s.request());
      } else {
        s.engine.launch(s.request(), passed);
      }
      if (moves) std::swap(s.in, s.out);
      if (++n % length == 0 && is_waiting()) s.engine.flush();
    }));
  std::ranges::sort(nanoseconds);
  std::printf("%-34s %6.1f ns a launch\n", what, nanoseconds[rounds / 2]);
}

// Loops of so many steps of two kernels, in a young program: what each launch takes longer than
// around the launcher, where the first cache is displaced.
class Loops : public test::PassesTest {
public:
  void TestBody() override {}
  void measure(unsigned steps, const std::string& settings) {
    constexpr unsigned rounds = 101, loops = 6;
    const Displacing displacing;
    void* parameters[] = {&v, &u, &size};
    const auto each_launch = [&](const auto& launch) {
      for (unsigned n = 0; n < steps; ++n)
        for (const char* name : {"s", "h"})
          launch(Request{reinterpret_cast<CUfunction>(module.functions[name].get()),
                         {4, 1, 1},
                         {32, 1, 1},
                         0,
                         stream,
                         parameters});
    };
    std::vector<double> longer;
    for (unsigned round = 0; round < rounds; ++round) {
      engine = std::make_unique<Engine>(read_settings(settings));
      double around = 0, through = 0;
      for (unsigned loop = 0; loop < loops; ++loop) {
        const double one = nanoseconds_of(1, [&] { each_launch(displacing); });
        const double other = nanoseconds_of(1, [&] {
          each_launch([&](const Request& request) { engine->launch(request, displacing); });
          if (is_waiting()) engine->flush();
        });
        if (loop == 0) continue;
        around += one;
        through += other;
      }
      longer.push_back((through - around) / (2 * steps * (loops - 1)));
    }
    std::ranges::sort(longer);
    std::printf("%-34s %6.1f ns a launch\n",
                (settings + ", loops of " + std::to_string(steps)).c_str(), longer[rounds / 2]);
  }
};

} // namespace

int main() {
  for (const char* settings : {"", "no-images,steps", "steps"})
    for (const unsigned steps : {7U, 30U})
      Loops().measure(steps, settings);
  test::Program with, without("other", false), waiting("waiting");
  contract::Contract contract = test::contract_of("waiting");
  for (contract::Variant& variant : contract.variants)
    variant.waits = true;
  waiting.module.globals[contract::symbol_of("waiting")] = contract::encode(contract);
  measure("without a contract", "", without.request());
  measure("the original", "policy=original", with.request());
  measure("the model's choice", "", with.request());
  measure("x:4", "policy=x:4", with.request());
  measure("x:4, with a report", "policy=x:4,report=/dev/null", with.request());
  measure("may begin early", "policy=original,early", waiting.request());
  measure("may go out together", "policy=original,batch", waiting.request());
  measure("no step, under --steps", "steps", without.request());
  measure_first("the first ones, under --steps", "steps", without.request());
  measure_runs("the same arguments", 5000, false);
  for (const unsigned k : {1U, 2U, 3U, 5U, 7U, 12U, 100U})
    measure_runs(("runs of " + std::to_string(k) + " steps").c_str(), k, true);
  measure_displaced("without a contract", "", without.request());
  measure_displaced("the original", "policy=original", with.request());
  measure_displaced("x:4", "policy=x:4", with.request());
  return 0;
}
