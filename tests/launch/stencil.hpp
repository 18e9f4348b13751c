// A program that steps an array of 100 words, and what entries for several steps do to memory.
#pragma once

#include "program.hpp"

#include "contract/expression.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <thread>

namespace ptxasw::launch::test {

inline constexpr unsigned points = 100;

// out[i] = 2 * in[i - 1] + in[i + 1] + 1 within the rim, `steps` times, as an entry does it: `in`
// stays as it was.
inline void step(const fake::Launched& launch, unsigned steps) {
  auto* in = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[0]));
  auto* out = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[1]));
  std::vector<unsigned> now(in, in + points), other(out, out + points);
  for (unsigned n = 0; n < steps; ++n) {
    for (unsigned i = 1; i + 1 < points; ++i)
      other[i] = 2 * now[i - 1] + now[i + 1] + 1;
    std::swap(now, other);
  }
  std::copy(now.begin(), now.end(), out);
}

inline contract::Expression expression(const char* word) {
  return contract::to_expression(word).value();
}

inline Settings trying_at_once(const std::string& words) {
  Settings settings = read_settings(words);
  settings.tries_behind = 0;
  return settings;
}

struct Stencil {
  fake::Module& module = gpu().add_module();
  fake::Function &kernel = gpu().add(module, "s", {8, 8, 4}),
                 &three = gpu().add(module, "s3", {8, 8, 4, 12}),
                 &five = gpu().add(module, "s5", {8, 8, 4, 12});
  // With room for arrays that begin a word later.
  std::vector<unsigned char>&a = gpu().allocate(4 * (points + 1)),
                       &b = gpu().allocate(4 * (points + 1));
  CUdeviceptr in = reinterpret_cast<CUdeviceptr>(a.data()),
              out = reinterpret_cast<CUdeviceptr>(b.data());
  unsigned n = points;
  void* parameters[3] = {&in, &out, &n};
  Engine engine;
  std::vector<unsigned> x, y; // what plain launches leave

  // `is_new`: nothing of it was launched yet. Short runs are tried both ways at once.
  explicit Stencil(const std::string& settings = "no-images,steps=60000000", bool waits = false,
                   bool is_new = false)
      : Stencil(trying_at_once(settings), waits, is_new) {}
  explicit Stencil(const Settings& settings, bool waits = false, bool is_new = false)
      : engine(settings) {
    contract::Contract contract{.kernel = "s",
                                .parameters = 3,
                                .parameter_bytes = 20,
                                .places = {{0, 8}, {8, 8}, {16, 4}},
                                .variants = {{.entry = "s", .name = "original"}}};
    for (const unsigned steps : {5U, 3U})
      contract.steps.push_back({.entry = "s" + std::to_string(steps),
                                .count = steps,
                                .swaps = {{0, 1}},
                                .waits = waits,
                                .block = {32, 1, 1},
                                .covers = {16, 1, 1},
                                .conditions = {{expression("p2s32,-3,+"), "too few points"}},
                                .touched = {{0, true, expression("0"), expression("p2s32,4,*")},
                                            {1, true, expression("0"), expression("p2s32,4,*")}}});
    module.globals[contract::symbol_of("s")] = contract::encode(contract);
    kernel.run = [](const auto& launch) { step(launch, 1); };
    three.run = [](const auto& launch) { step(launch, 3); };
    five.run = [](const auto& launch) { step(launch, 5); };
    auto* first = reinterpret_cast<unsigned*>(a.data());
    auto* second = reinterpret_cast<unsigned*>(b.data());
    for (unsigned i = 0; i < points; ++i) {
      first[i] = i * i;
      second[i] = 7 * i;
    }
    x.assign(first, first + points);
    y.assign(second, second + points);
    if (!is_new) seen();
  }
  ~Stencil() {
    engine.flush();
    gpu().modules.clear();
    gpu().capturing = gpu().managed = false;
  }

  [[nodiscard]] Request request() {
    return {reinterpret_cast<CUfunction>(&kernel),
            {4, 1, 1},
            {32, 1, 1},
            0,
            CU_STREAM_LEGACY,
            parameters,
            nullptr};
  }
  void launch_once() {
    EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS);
    moved();
  }
  void moved() {
    for (unsigned i = 1; i + 1 < points; ++i)
      y[i] = 2 * x[i - 1] + x[i + 1] + 1;
    std::swap(x, y);
    std::swap(in, out);
  }
  void steps(unsigned count) {
    for (unsigned k = 0; k < count; ++k)
      launch_once();
  }
  // From now on it is known to launch, and a launch that follows is put off.
  void seen() {
    steps(numbers::launch::first_needed);
    settle();
    gpu().launches.clear();
  }
  // What is prepared ahead of its use is there.
  void settle() {
    if (engine.merger() != nullptr) engine.merger()->settle();
  }
  // From now on, and until a run does not pay, the first launch is put off.
  void merge_once() {
    steps(40);
    engine.flush();
    EXPECT_THAT(made(), testing::HasSubstr("s5"));
  }
  // How many of `count` launches have not reached the driver when they return.
  unsigned put_off(unsigned count, const std::function<void(unsigned)>& launch) {
    unsigned found = 0;
    for (unsigned k = 0; k < count; ++k) {
      gpu().launches.clear();
      launch(k);
      if (gpu().launches.empty()) ++found;
    }
    return found;
  }
  // The same arguments once more: nothing moves.
  void launch_again() { EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS); }
  void expect_as_launched_singly() {
    const auto words = [](CUdeviceptr at) {
      const auto* first = reinterpret_cast<const unsigned*>(at);
      return std::vector<unsigned>(first, first + points);
    };
    EXPECT_EQ(words(in), x);
    EXPECT_EQ(words(out), y);
  }
  static std::string made() {
    std::string all;
    for (const fake::Launched& l : launched())
      all += (all.empty() ? "" : " ") + l.entry;
    return all;
  }
};

} // namespace ptxasw::launch::test
