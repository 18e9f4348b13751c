// Kernels that are several stages of a step: a host exchanges its pointers from pass to pass.
#include "passes/time_tile/polynomial/parameter_names.hpp"
#include "passes/time_tile/sequence_case.hpp"
#include "passes/time_tile/step_case.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>

namespace ptxasw::kernels_twice {
namespace {

using test::blocks;
using test::buffer;
using test::number;
using test::SequenceCase;
using test::StageArgument;
using test::StageLaunch;
using Program = test::SequenceProgram;

std::string kernels() {
  return test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/twice.ptx");
}

constexpr unsigned passes_at_most = 16;

// Of a stage of `each` in a pass, the value at each time: the number-th of those.
StageArgument over_time(unsigned bytes, unsigned stage, unsigned each,
                        std::uint64_t (*value)(unsigned time)) {
  StageArgument made{.bytes = bytes};
  for (unsigned pass = 0; pass < passes_at_most; ++pass)
    made.varying.push_back(value(pass * each + stage));
  return made;
}
std::uint64_t real(unsigned time) {
  return std::bit_cast<std::uint32_t>(0.5F * static_cast<float>(time + 1));
}
std::uint64_t precise(unsigned time) {
  return std::bit_cast<std::uint64_t>(0.25 * static_cast<double>(time * time));
}
std::uint64_t step(unsigned time) {
  return time;
}

std::vector<std::uint8_t> data(std::size_t count, unsigned bytes, unsigned seed) {
  return test::random_elements(count, bytes, true, seed);
}

constexpr simt::Dim3 block{16, 4};

Program heated(unsigned nx, unsigned ny) {
  Program made;
  for (int n : {0, 1})
    made.stages.push_back({"heated",
                           blocks(nx, ny),
                           block,
                           {buffer(1 - n), buffer(n), number(nx), number(ny),
                            over_time(4, static_cast<unsigned>(n), 2, real)}});
  for (unsigned n : {1U, 2U})
    made.buffers.push_back(data(std::size_t{nx} * ny, 4, n));
  return made;
}

Program bounded(unsigned nx, unsigned ny) {
  Program made;
  for (int n : {0, 1}) {
    made.stages.push_back(
        {"bounded_1", blocks(nx, ny), block, {buffer(1 - n), buffer(n), number(nx), number(ny)}});
    made.stages.push_back({"bounded_2",
                           blocks(nx, ny),
                           block,
                           {buffer(1 - n), number(nx), number(ny),
                            over_time(8, static_cast<unsigned>(n), 2, precise)}});
  }
  for (unsigned n : {1U, 2U})
    made.buffers.push_back(data(std::size_t{nx} * ny, 8, n));
  return made;
}

Program pushed_wave(unsigned n, unsigned) {
  Program made;
  for (int turn : {0, 1, 2}) {
    const int next = (turn + 2) % 3;
    made.stages.push_back({"pushed_wave_1",
                           blocks(n, n),
                           block,
                           {buffer(next), buffer((turn + 1) % 3), buffer(turn), number(n)}});
    made.stages.push_back({"pushed_wave_2",
                           blocks(n, n),
                           block,
                           {buffer(next), number(n), number(n / 2),
                            over_time(4, static_cast<unsigned>(turn), 3, real)}});
  }
  for (unsigned one : {1U, 2U, 3U})
    made.buffers.push_back(data(std::size_t{n} * n, 4, one));
  return made;
}

// The push in front of the wave, so that it is the first to store.
Program pushed_first(unsigned n, unsigned) {
  Program made = pushed_wave(n, n);
  for (std::size_t turn = 0; turn < 3; ++turn) {
    std::swap(made.stages[2 * turn], made.stages[2 * turn + 1]);
    made.stages[2 * turn].arguments[0] = made.stages[2 * turn + 1].arguments[1];
  }
  return made;
}

// A rim of which the launch has a part only.
Program partly_bounded(unsigned nx, unsigned ny) {
  Program made = bounded(nx, ny);
  for (const std::size_t n : {1U, 3U})
    made.stages[n].grid = blocks((nx + 1) / 2, ny);
  return made;
}

Program marked(unsigned n, unsigned) {
  Program made;
  for (int turn : {0, 1}) {
    made.stages.push_back({"marked_1",
                           blocks(n, n),
                           block,
                           {buffer(2), number(n), number(n / 8),
                            over_time(4, static_cast<unsigned>(turn), 2, real)}});
    made.stages.push_back(
        {"marked_2", blocks(n, n), block, {buffer(1 - turn), buffer(turn), buffer(2), number(n)}});
  }
  for (unsigned one : {1U, 2U, 3U})
    made.buffers.push_back(data(std::size_t{n} * n, 4, one));
  return made;
}

Program slanted(unsigned n, unsigned) {
  Program made = marked(n, n);
  for (int turn : {1, 0}) {
    const StageLaunch rim{"slanted", blocks(n, n), block, {buffer(1 - turn), buffer(2), number(n)}};
    made.stages.insert(made.stages.begin() + 2 * turn + 2, rim);
    made.stages[2 * static_cast<unsigned>(turn) + 1].kernel = "marked_3";
  }
  return made;
}

Program staggered(unsigned n, unsigned) {
  const auto launch = [&](const char* kernel, std::vector<StageArgument> arguments) {
    arguments.push_back(number(n));
    return StageLaunch{kernel, blocks(n, n), block, std::move(arguments)};
  };
  Program made;
  for (const int turn : {0, 1}) {
    const StageArgument c = buffer(2 + 2 * turn);
    StageLaunch mark = launch("marked_1", {buffer(0)});
    mark.arguments.push_back(number(n / 8));
    mark.arguments.push_back(over_time(4, static_cast<unsigned>(turn), 2, real));
    made.stages.push_back(mark);
    made.stages.push_back(launch("staggered_1", {c, buffer(0)}));
    made.stages.push_back(launch("staggered_2", {buffer(3), buffer(1)}));
    made.stages.push_back(launch("staggered_3", {buffer(1), c, buffer(3)}));
  }
  for (unsigned one : {1U, 2U, 3U, 4U, 5U})
    made.buffers.push_back(data(std::size_t{n} * n, 4, one));
  return made;
}

Program eaten(unsigned n, unsigned) {
  Program made;
  const std::uint64_t feed = std::bit_cast<std::uint32_t>(0.03125F);
  for (int turn : {0, 1}) {
    const int u = turn, v = 2 + turn, u_next = 1 - turn, v_next = 3 - turn;
    made.stages.push_back({"grown",
                           blocks(n, n),
                           block,
                           {buffer(u_next), buffer(u), buffer(v), number(n), number(feed)}});
    made.stages.push_back({"eaten",
                           blocks(n, n),
                           block,
                           {buffer(v_next), buffer(v), buffer(u), number(n), number(feed)}});
  }
  for (unsigned one : {1U, 2U, 3U, 4U})
    made.buffers.push_back(data(std::size_t{n} * n, 4, one));
  return made;
}

void leave_the_same(Program (*made_of)(unsigned nx, unsigned ny)) {
  for (const passes::StepShape& shape : {passes::StepShape{.count = 2, .width = 48, .rows = 16},
                                         {.count = 1, .width = 32, .strips = 2, .rows = 16}})
    for (const auto& [nx, ny] : {std::pair{5U, 6U}, {33U, 7U}, {70U, 45U}, {110U, 80U}}) {
      SCOPED_TRACE(fmt::format("{}x{}", nx, ny));
      const Program program = made_of(nx, ny);
      const SequenceCase made(kernels(), program.stages, program.buffers, shape);
      test::expect_the_same(
          made, nx == 5 ? fmt::format("{}_{}", program.stages[0].kernel, shape.count) : "");
    }
}

TEST(KernelsTwice, OneOfWhichANumberVaries) {
  leave_the_same(heated);
}
TEST(KernelsTwice, WithARimOfItsOwn) {
  leave_the_same(bounded);
  leave_the_same(partly_bounded);
}
TEST(KernelsTwice, ThreeArraysInTurn) {
  leave_the_same(pushed_wave);
  leave_the_same(pushed_first);
}
TEST(KernelsTwice, AnArrayThatIsHardlyStoredTo) {
  leave_the_same(marked);
  leave_the_same(slanted);
}
TEST(KernelsTwice, ATileForArraysInTurn) {
  leave_the_same(staggered);
}
TEST(KernelsTwice, TwoFields) {
  leave_the_same(eaten);
}

TEST(KernelsTwice, AlongALine) {
  Program made;
  constexpr unsigned n = 1000;
  const std::uint64_t by = std::bit_cast<std::uint64_t>(0.125);
  for (int turn : {0, 1})
    made.stages.push_back({"drifted",
                           {(n + 127) / 128},
                           {128},
                           {buffer(1 - turn), buffer(turn), number(n), number(by, 8),
                            over_time(4, static_cast<unsigned>(turn), 2, step)}});
  for (unsigned one : {1U, 2U})
    made.buffers.push_back(data(n, 8, one));
  const SequenceCase entry(kernels(), made.stages, made.buffers,
                           {.count = 4, .width = 128, .strips = 1, .rows = 1});
  ASSERT_EQ(entry.plan.refused.text, "");
  ASSERT_EQ(entry.entry.refused.text, "");
  EXPECT_EQ(entry.difference({4, 3, 2, 2}, 1), "");
}

// Launches with other arrays than those of the pass before are another sequence.
TEST(KernelsTwice, AskForTheExchange) {
  Program program = heated(20, 20);
  SequenceCase made(kernels(), program.stages, program.buffers, {.count = 2, .width = 32});
  ASSERT_EQ(made.entry.refused.text, "");
  std::swap(made.stages[1].arguments[0], made.stages[1].arguments[1]);
  EXPECT_THAT(made.difference({1, 1}), testing::HasSubstr("other arrays or sizes"));
}

// Parameters may be called as parts of instructions are.
TEST(KernelsTwice, ParametersHaveOtherNamesWhereTheyAreNamed) {
  const ptx::Module module = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n"
                                        ".entry k(.param .u32 u32, .param .u64 out) { ret; }\n",
                                        "k.ptx");
  const ptx::Body body = ptx::resolve(module, module.functions.at(0));
  EXPECT_EQ(passes::ParameterNames(body, "_2").in("ld.param.u32 %r1, [u32+0]; // out"),
            "ld.param.u32 %r1, [u32_2+0]; // out_2");
}

} // namespace
} // namespace ptxasw::kernels_twice
