// A program that steps a wave, three arrays of 100 words in rotation, and what entries for several
// steps do to memory.
#pragma once

#include "stencil.hpp"

#include <array>

namespace ptxasw::launch::test {

// next[i] = 3 * now[i - 1] + now[i + 1] - old[i] + 1 within the rim, `steps` times, as an entry of
// a pair does it. What lies outside the rim is in the program's own arrays, in turn.
inline void wave(const fake::Launched& launch, unsigned steps) {
  const auto words = [](CUdeviceptr at) { return reinterpret_cast<unsigned*>(at); };
  std::array<unsigned*, 3> turn{};
  for (unsigned n = 0; n < 3; ++n)
    turn[n] = words(value_of<CUdeviceptr>(launch.parameters[n]));
  const bool single = launch.parameters.size() == 4;
  const auto arrays = single ? contract::StepArrays{} : // the numbers of no entry
                          value_of<contract::StepArrays>(launch.parameters[5]);
  const unsigned* const read_old = single ? turn[0] : words(arrays.read_old);
  const unsigned* const read_now = single ? turn[1] : words(arrays.read_now);
  std::vector<unsigned> old(turn[0], turn[0] + points), now(turn[1], turn[1] + points);
  std::copy(read_old + 1, read_old + points - 1, old.begin() + 1);
  std::copy(read_now + 1, read_now + points - 1, now.begin() + 1);
  for (unsigned n = 0; n < steps; ++n) {
    std::vector<unsigned> next(turn[(n + 2) % 3], turn[(n + 2) % 3] + points);
    for (unsigned i = 1; i + 1 < points; ++i)
      next[i] = 3 * now[i - 1] + now[i + 1] - old[i] + 1;
    old = std::exchange(now, next);
  }
  std::copy(now.begin() + 1, now.end() - 1, (single ? turn[2] : words(arrays.write_now)) + 1);
  if (!single) std::copy(old.begin() + 1, old.end() - 1, words(arrays.write_old) + 1);
}

inline contract::Steps rotating_entry(const std::string& name, unsigned steps) {
  contract::Steps made{.entry = name,
                       .count = steps,
                       .swaps = {},
                       .rotation = contract::Rotation{.old = 0, .now = 1, .next = 2},
                       .block = {32, 1, 1},
                       .covers = {16, 1, 1},
                       .conditions = {{expression("p3s32,3,-"), "too few points"}},
                       .touched = {}};
  for (const unsigned n : {0U, 1U, 2U})
    made.touched.push_back({n, true, expression("0"), expression("p3s32,4,*")});
  return made;
}

// As the pipeline writes it: arrays 1 and 2 may also be exchanged, array 0 with coefficients.
inline contract::Contract wave_contract() {
  contract::Contract made{.kernel = "w",
                          .parameters = 4,
                          .parameter_bytes = 28,
                          .places = {{0, 8}, {8, 8}, {16, 8}, {24, 4}},
                          .variants = {{.entry = "w", .name = "original"}}};
  contract::Steps pairs = rotating_entry("w3", 3);
  pairs.rotation.reset();
  pairs.swaps = {{1, 2}};
  pairs.touched[0].written = false;
  made.steps = {pairs, rotating_entry("w6_rotated", 6), rotating_entry("w3_rotated", 3)};
  return made;
}

struct Wave {
  fake::Module& module = gpu().add_module();
  fake::Function &kernel = gpu().add(module, "w", {8, 8, 8, 4}),
                 &pairs = gpu().add(module, "w3", {8, 8, 8, 4, 12}),
                 &three = gpu().add(module, "w3_rotated", {8, 8, 8, 4, 12, 32}),
                 &six = gpu().add(module, "w6_rotated", {8, 8, 8, 4, 12, 32});
  std::array<CUdeviceptr, 3> arrays{}; // old, now, next
  unsigned n = points;
  void* parameters[4] = {&arrays[0], &arrays[1], &arrays[2], &n};
  Engine engine;
  std::array<std::vector<unsigned>, 3> plain; // what plain launches leave
  CUstream stream = CU_STREAM_LEGACY;

  explicit Wave(const std::string& settings = "no-images,steps=60000000")
      : engine(trying_at_once(settings)) {
    module.globals[contract::symbol_of("w")] = contract::encode(wave_contract());
    kernel.run = [](const auto& launch) { wave(launch, 1); };
    three.run = [](const auto& launch) { wave(launch, 3); };
    six.run = [](const auto& launch) { wave(launch, 6); };
    for (unsigned a = 0; a < 3; ++a) {
      arrays[a] = reinterpret_cast<CUdeviceptr>(gpu().allocate(4 * (points + 1)).data());
      for (unsigned i = 0; i < points; ++i)
        reinterpret_cast<unsigned*>(arrays[a])[i] = (a + 3) * i * i + a;
      plain[a] = words(a);
    }
    steps(numbers::launch::first_needed); // launches that follow are put off from now on
    if (engine.merger() != nullptr) engine.merger()->settle();
    gpu().launches.clear();
    gpu().calls.clear();
  }
  ~Wave() {
    engine.flush();
    gpu().modules.clear();
    gpu().capturing = gpu().managed = gpu().allocated_in_strict_mode = false;
    gpu().room = std::size_t{1} << 30;
  }

  [[nodiscard]] std::vector<unsigned> words(unsigned a) const {
    const auto* first = reinterpret_cast<const unsigned*>(arrays[a]);
    return {first, first + points};
  }
  [[nodiscard]] Request request() {
    return {reinterpret_cast<CUfunction>(&kernel),
            {4, 1, 1},
            {32, 1, 1},
            0,
            stream,
            parameters,
            nullptr};
  }
  void steps(unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS);
      auto& [old, now, next] = plain;
      for (unsigned i = 1; i + 1 < points; ++i)
        next[i] = 3 * now[i - 1] + now[i + 1] - old[i] + 1;
      move();
    }
  }
  void move() {
    std::rotate(plain.begin(), plain.begin() + 1, plain.end());
    std::rotate(arrays.begin(), arrays.begin() + 1, arrays.end());
  }
  void expect_as_launched_singly() const {
    for (unsigned a = 0; a < 3; ++a)
      EXPECT_EQ(words(a), plain[a]) << a;
  }
};

} // namespace ptxasw::launch::test
