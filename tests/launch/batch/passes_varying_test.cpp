// Passes of which each has its own value of a parameter.
#include "passes_case.hpp"

#include <gmock/gmock.h>

namespace ptxasw::launch {
namespace {

using contract::ArrayPlace;
using test::direct;
using test::expression;
using test::gpu;
using test::launched;
using test::points;
using test::value_of;

// (v, u, n, t) of both kernels: p changes v by u and t, q changes u by v and t.
class VaryingTest : public test::PassesTest {
protected:
  static constexpr unsigned count = 4, stages = 2, varying = 2;

  VaryingTest() {
    for (const char name : std::string("pq"))
      add_kernel(name);
    contract.kernel = contract.variants[0].entry = "p";
    contract.parameters = 4;
    contract.parameter_bytes = 24;
    contract.places = places;
    contract.sequences = {pairs()};
    keep();
    add_passes();
  }
  void keep() { module.globals[contract::symbol_of("p")] = contract::encode(contract); }

  static void change(char name, Words& v, Words& u, unsigned t) {
    for (unsigned i = 1; i + 1 < points; ++i) {
      if (name == 'p') v[i] = 3 * v[i] + u[i - 1] + 2 * u[i + 1] + t * t + 1;
      if (name == 'q') u[i] = 5 * u[i] + t * v[i];
    }
  }
  contract::Sequence pairs() {
    contract::Sequence made{.entry = "pq_passes", .count = count, .waits = false};
    made.block = {32, 1, 1};
    made.covers = {16, 1, 1};
    for (const char name : std::string("pq")) {
      made.stages.push_back(stage_of(name));
      made.stages.back().places = places;
      made.stages.back().touched[0].written = name == 'p';
      made.stages.back().touched[1].written = name == 'q';
    }
    for (const unsigned number : {0U, 1U, 2U})
      made.equal.push_back({{0, number}, {1, number}, number == 2 ? 4U : 8U});
    made.arrays = {{0, 0}, {0, 1}};
    made.elements = {{4, {expression("4")}}, {4, {expression("4")}}};
    made.varying = {{0, 3}, {1, 3}};
    return made;
  }
  void add_kernel(char name) {
    gpu().add(module, std::string(1, name), {8, 8, 4, 4}).run =
        [name](const fake::Launched& launch) {
          const auto at_v = value_of<CUdeviceptr>(launch.parameters[0]),
                     at_u = value_of<CUdeviceptr>(launch.parameters[1]);
          Words of_v = words(at_v), of_u = words(at_u);
          change(name, of_v, of_u, value_of<unsigned>(launch.parameters[3]));
          if (name == 'p') store(of_v, at_v);
          if (name == 'q') store(of_u, at_u);
        };
  }
  void add_passes() {
    gpu()
        .add(module, "pq_passes",
             {8, 8, 4, 4, 8, 8, 4, 4, 4 * (3 * stages + 1), 2 * sizeof(ArrayPlace),
              8 * count * varying})
        .run = [](const fake::Launched& launch) {
      go_through(launch, launch.parameters[9], [&](Words& now_v, Words& now_u) {
        for (unsigned n = 0; n < value_of<unsigned>(launch.parameters[8], 3 * stages); ++n)
          for (const unsigned stage : {0U, 1U})
            change("pq"[stage], now_v, now_u,
                   static_cast<unsigned>(
                       value_of<std::uint64_t>(launch.parameters[10], varying * n + stage)));
      });
    };
  }

  void launch_with(char name, unsigned t) {
    void* parameters[] = {&v, &u, &size, &t};
    EXPECT_EQ(
        engine->launch({reinterpret_cast<CUfunction>(module.functions[std::string(1, name)].get()),
                        {4, 1, 1},
                        {32, 1, 1},
                        0,
                        stream,
                        parameters},
                       direct),
        CUDA_SUCCESS);
    change(name, plain_v, plain_u, t);
  }
  // Passes, and how they were made.
  std::string passes(unsigned times) {
    gpu().launches.clear();
    for (unsigned n = 0; n < times; ++n, ++step) {
      launch_with('p', step);
      launch_with('q', 2 * step + 1);
    }
    other_call();
    std::string all;
    for (const fake::Launched& one : launched())
      all += one.entry.size() == 1
                 ? one.entry
                 : std::to_string(value_of<unsigned>(one.parameters[8], 3 * stages));
    return all;
  }
  void learn_passes(unsigned times) {
    for (unsigned n = 0; n < 24; ++n) {
      passes(times);
      engine->merger()->settle();
    }
  }

  const std::vector<contract::ParameterSlot> places{{0, 8}, {8, 8}, {16, 4}, {20, 4}};
  unsigned step = 7;
};

TEST_F(VaryingTest, EachPassHasItsOwnValues) {
  begin();
  learn_passes(15);
  EXPECT_EQ(passes(15), "4443");
  learn_passes(9);
  EXPECT_EQ(passes(9), "3222");
}

TEST_F(VaryingTest, PartsOfThemGoOut) {
  begin();
  learn_passes(15);
  EXPECT_EQ(passes(6), "33") << "what waits at another call";
}

// Another value of a parameter that is to be the same.
TEST_F(VaryingTest, WhatDoesNotVaryIsTheSame) {
  begin();
  learn_passes(6);
  EXPECT_EQ(passes(6), "33");
  size = 2;
  EXPECT_EQ(passes(6), "pqpqpqpqpqpq") << "the contract asks for three points";
}

// What is touched hangs on the value: every pass is asked.
TEST_F(VaryingTest, EachPassIsAskedWhatItTouches) {
  auto& first = contract.sequences[0].stages[0];
  first.conditions.push_back({expression("100,p3s32,-"), "too late"});
  keep();
  begin();
  learn_passes(3); // steps 7 to 78
  EXPECT_EQ(step, 79U);
  EXPECT_EQ(passes(3), "21");
  EXPECT_EQ(passes(3), "21");
  step = 99;
  EXPECT_EQ(passes(3), "pqpqpq") << "the last one is too late";
}

} // namespace
} // namespace ptxasw::launch
