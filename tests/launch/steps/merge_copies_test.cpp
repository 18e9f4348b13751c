// A step writes two arrays, and each is copied back to where it reads from, one by the driver and
// one by a kernel.
#include "stencil.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace ptxasw::launch::copies_test {
namespace {

using numbers::launch::first_needed;
using test::direct;
using test::expression;
using test::gpu;
using test::launched;
using test::points;
using test::Stencil;
using test::value_of;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<unsigned>;

// f(u, v, next_u, next_v, n), within the rim.
void step(const Words& u, const Words& v, Words& next_u, Words& next_v) {
  for (unsigned i = 1; i + 1 < points; ++i) {
    next_u[i] = 2 * u[i - 1] + v[i + 1] + 1;
    next_v[i] = u[i] - v[i] + 3;
  }
}

void steps_of(const fake::Launched& launch, unsigned count) {
  std::array<unsigned*, 4> at{};
  std::array<Words, 4> words;
  for (unsigned a = 0; a < 4; ++a) {
    at[a] = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[a]));
    words[a].assign(at[a], at[a] + points);
  }
  for (unsigned n = 0; n < count; ++n) {
    step(words[0], words[1], words[2], words[3]);
    std::swap(words[0], words[2]);
    std::swap(words[1], words[3]);
  }
  std::ranges::copy(words[0], at[2]);
  std::ranges::copy(words[1], at[3]);
}

struct Fields {
  fake::Module& module = gpu().add_module();
  fake::Function &kernel = gpu().add(module, "f", {8, 8, 8, 8, 4}),
                 &three = gpu().add(module, "f3", {8, 8, 8, 8, 4, 12}),
                 &five = gpu().add(module, "f5", {8, 8, 8, 8, 4, 12}),
                 &copies = gpu().add(module, "c", {8, 8, 4});
  std::array<CUdeviceptr, 4> arrays{};
  unsigned n = points;
  void* parameters[5] = {&arrays[0], &arrays[1], &arrays[2], &arrays[3], &n};
  void* copied[3] = {&arrays[1], &arrays[3], &n};
  Engine engine;
  std::array<Words, 4> plain; // what plain launches leave

  explicit Fields(const std::string& settings = "no-images,steps=60000000")
      : engine(read_settings(settings)) {
    contract::Contract contract{.kernel = "f",
                                .parameters = 5,
                                .parameter_bytes = 36,
                                .places = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {32, 4}},
                                .variants = {{.entry = "f", .name = "original"}}};
    for (const unsigned steps : {5U, 3U}) {
      contract.steps.push_back({.entry = "f" + std::to_string(steps),
                                .count = steps,
                                .swaps = {{0, 2}, {1, 3}},
                                .block = {32, 1, 1},
                                .covers = {16, 1, 1}});
      for (unsigned a = 0; a < 4; ++a)
        contract.steps.back().touched.push_back(
            {a, true, expression("0"), expression("p4s32,4,*")});
    }
    module.globals[contract::symbol_of("f")] = contract::encode(contract);
    contract::Contract copying{.kernel = "c",
                               .parameters = 3,
                               .parameter_bytes = 20,
                               .places = {{0, 8}, {8, 8}, {16, 4}},
                               .variants = {{.entry = "c", .name = "original"}}};
    copying.copy = contract::CopyKernel{
        1, 0, {4, expression("0"), {{expression("4"), expression("p2s32")}}}, {}};
    module.globals[contract::symbol_of("c")] = contract::encode(copying);
    kernel.run = [](const auto& launch) { steps_of(launch, 1); };
    three.run = [](const auto& launch) { steps_of(launch, 3); };
    five.run = [](const auto& launch) { steps_of(launch, 5); };
    copies.run = [](const auto& launch) {
      const auto* from = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[1]));
      std::copy_n(from, points,
                  reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[0])));
    };
    for (unsigned a = 0; a < 4; ++a) {
      auto& bytes = gpu().allocate(4 * points);
      arrays[a] = reinterpret_cast<CUdeviceptr>(bytes.data());
      for (unsigned i = 0; i < points; ++i)
        reinterpret_cast<unsigned*>(bytes.data())[i] = i * (a + 3) + a;
      plain[a].assign(words(a), words(a) + points);
    }
    steps(first_needed);
    engine.merger()->settle(); // entries are loaded by then
    engine.flush();
    steps(first_needed + 30);
    engine.flush();
    launched();
  }
  ~Fields() {
    engine.flush();
    gpu().modules.clear();
  }
  [[nodiscard]] unsigned* words(unsigned a) const { return reinterpret_cast<unsigned*>(arrays[a]); }
  void launch() {
    const Request request{reinterpret_cast<CUfunction>(&kernel),
                          {4, 1, 1},
                          {32, 1, 1},
                          0,
                          CU_STREAM_LEGACY,
                          parameters,
                          nullptr};
    EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
    step(plain[0], plain[1], plain[2], plain[3]);
  }
  void copy_u() {
    const DeviceCopy back{arrays[0], arrays[2], 4 * points, CU_STREAM_LEGACY};
    if (!engine.take_copy(back))
      driver().copy_on_device(back.to, back.from, back.bytes, back.stream);
    plain[0] = plain[2];
  }
  void copy_v() {
    const Request request{reinterpret_cast<CUfunction>(&copies),
                          {4, 1, 1},
                          {32, 1, 1},
                          0,
                          CU_STREAM_LEGACY,
                          copied,
                          nullptr};
    EXPECT_EQ(engine.launch(request, direct), CUDA_SUCCESS);
    plain[1] = plain[3];
  }
  void steps(unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      launch();
      copy_u();
      copy_v();
    }
  }
  void expect_same() {
    engine.flush();
    for (unsigned a = 0; a < 4; ++a)
      EXPECT_EQ(Words(words(a), words(a) + points), plain[a]) << a;
  }
};

TEST(MergeCopies, EveryNumberOfSteps) {
  for (unsigned count = 1; count <= 70; ++count) {
    Fields f;
    f.steps(count);
    f.expect_same();
    EXPECT_LE(launched().size(), 3 * (count / 5 + 6 + 3 * (count / 60))) << count;
  }
}

TEST(MergeCopies, AreMadeBehindWhatIsSingle) {
  Fields f;
  f.steps(7);
  EXPECT_EQ(Stencil::made(), "f copy c f5");
  f.engine.flush();
  EXPECT_EQ(Stencil::made(), "copy c f copy c");
  f.expect_same();
}

// A run may end wherever the program does something else.
TEST(MergeCopies, SomeOfThemAreMade) {
  for (unsigned count = 0; count < 20; ++count)
    for (const unsigned copies : {0U, 1U}) {
      Fields f;
      f.steps(count);
      f.launch();
      if (copies != 0) f.copy_u();
      f.expect_same();
      f.steps(8);
      f.expect_same();
      f.steps(count);
      f.launch();
      if (copies != 0) f.copy_u();
      f.launch(); // the other copy is left out
      f.copy_u();
      f.copy_v();
      f.expect_same();
    }
}

TEST(MergeCopies, InAnotherOrderTheyEndTheRun) {
  for (unsigned count = 0; count < 12; ++count) {
    Fields f;
    f.steps(count);
    f.launch();
    f.copy_v();
    f.copy_u();
    f.expect_same();
    f.steps(count);
    f.copy_u();
    f.copy_v();
    f.expect_same();
  }
}

TEST(MergeCopies, NotWhereOneIsMissing) {
  Fields f;
  for (unsigned k = 0; k < 100; ++k) {
    f.launch();
    f.copy_u();
  }
  f.expect_same();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("f5")));
}

TEST(MergeCopies, AreChecked) {
  Fields f("no-images,steps=60000000,check");
  f.steps(12);
  f.expect_same();
  EXPECT_THAT(Stencil::made(), HasSubstr("f5"));
}

// --- which copies will do -----------------------------------------------------------------------

// Arrays of 0x100 bytes at 0x1000, 0x2000, and behind them what they are exchanged with.
struct Covering {
  CopyCall u{.copy = {0x1000, 0x3000, 0x100, nullptr}}, v{.copy = {0x2000, 0x4000, 0x100, nullptr}};
  [[nodiscard]] CopyBack::Covers covers() const {
    contract::Steps steps{.swaps = {{0, 2}, {1, 3}}};
    contract::FittedSteps fitted;
    for (const unsigned parameter : {0U, 1U, 2U, 3U}) {
      steps.touched.push_back({parameter, true, {}, {}});
      const std::uint64_t at = 0x1000 * (parameter + 1);
      fitted.ranges.push_back({at, at + 0x100, true});
    }
    const std::array both{CopyBack(u), CopyBack(v)};
    return CopyBack::covers(both, steps, fitted);
  }
};

TEST(CopyBack, OfSeveralArraysCoversAll) {
  using Covers = CopyBack::Covers;
  EXPECT_EQ(Covering{}.covers(), Covers::all);
  EXPECT_EQ((Covering{.u = {.copy = {0x1000, 0x3000, 0x80, nullptr}}}.covers()), Covers::nothing);
  EXPECT_EQ((Covering{.v = {.copy = {0x2000, 0x4000, 0x80, nullptr}}}.covers()), Covers::nothing);
  EXPECT_EQ((Covering{.u = {.copy = {0x2000, 0x4000, 0x100, nullptr}}}.covers()), Covers::nothing)
      << "one of them twice";
  EXPECT_EQ((Covering{.u = {.copy = {0x1000, 0x4000, 0x100, nullptr}},
                      .v = {.copy = {0x2000, 0x3000, 0x100, nullptr}}}
                 .covers()),
            Covers::nothing)
      << "crosswise";
  EXPECT_EQ((Covering{.u = {.copy = {0x1000, 0x2ff0, 0x110, nullptr}}}.covers()), Covers::nothing)
      << "to other places";
  EXPECT_EQ((Covering{.u = {.copy = {0xe00, 0x2e00, 0x300, nullptr}},
                      .v = {.copy = {0x2000, 0x4000, 0x100, nullptr}}}
                 .covers()),
            Covers::all);
  EXPECT_EQ((Covering{.u = {.copy = {0xe00, 0x2e00, 0x300, nullptr}},
                      .v = {.copy = {0xf00, 0x2f00, 0x1200, nullptr}}}
                 .covers()),
            Covers::nothing)
      << "of what is copied";
}

} // namespace
} // namespace ptxasw::launch::copies_test
