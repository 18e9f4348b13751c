// Time steps whose arrays stand in one structure: a parameter by value of which two pointers move.
#include "stencil.hpp"

#include <gmock/gmock.h>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::expression;
using test::gpu;
using test::launched;
using test::points;
using test::value_of;
using testing::HasSubstr;
using testing::Not;

struct Fields {
  CUdeviceptr in = 0, out = 0;
  unsigned n = points, more = 7;
};

struct InStructure {
  fake::Module& module = gpu().add_module();
  fake::Function &kernel = gpu().add(module, "f", {sizeof(Fields)}),
                 &five = gpu().add(module, "f5", {sizeof(Fields), 16});
  std::vector<unsigned char>&a = gpu().allocate(4 * points), &b = gpu().allocate(4 * points);
  Fields fields{reinterpret_cast<CUdeviceptr>(a.data()), reinterpret_cast<CUdeviceptr>(b.data())};
  void* parameters[1] = {&fields};
  Engine engine{read_settings("no-images,steps=60000000")};
  std::vector<unsigned> x = std::vector<unsigned>(points), y = x;

  // `variables`: that the entry reads. "a" is an array that moves, "v" is none.
  explicit InStructure(std::vector<contract::Variable> variables = {}) {
    module.arrays = {{"a", &a}, {"v", &gpu().allocate(8)}};
    const auto size = expression("p0.16s32,4,*");
    contract::Contract contract{
        .kernel = "f",
        .parameters = 1,
        .parameter_bytes = sizeof(Fields),
        .places = {{0, sizeof(Fields)}},
        .variants = {{.entry = "f", .name = "original"}},
        .steps = {{.entry = "f5",
                   .count = 5,
                   .swaps = {{0, contract::part(0, 8)}},
                   .is_told = true,
                   .block = {32, 1, 1},
                   .covers = {16, 1, 1},
                   .touched = {{0, true, expression("0"), size},
                               {contract::part(0, 8), true, expression("0"), size}},
                   .variables = std::move(variables)}}};
    module.globals[contract::symbol_of("f")] = contract::encode(contract);
    kernel.run = [](const auto& launch) { step(launch, 1); };
    five.run = [](const auto& launch) { step(launch, 5); };
    launches(numbers::launch::first_needed);
    if (engine.merger() != nullptr) engine.merger()->settle();
    launches(40);
    engine.flush();
    launched();
  }
  ~InStructure() {
    engine.flush();
    gpu().modules.clear();
  }

  // out[i] = in[i - 1] + 2 * in[i] + n + more
  static void step(const fake::Launched& launch, unsigned steps) {
    const auto given = value_of<Fields>(launch.parameters[0]);
    auto* in = reinterpret_cast<unsigned*>(given.in);
    auto* out = reinterpret_cast<unsigned*>(given.out);
    std::vector<unsigned> now(in, in + points), other(out, out + points);
    for (unsigned n = 0; n < steps; ++n) {
      compute(now, other, given);
      std::swap(now, other);
    }
    std::copy(now.begin(), now.end(), out);
  }
  static void compute(const std::vector<unsigned>& from, std::vector<unsigned>& to,
                      const Fields& fields) {
    for (unsigned i = 1; i < points; ++i)
      to[i] = from[i - 1] + 2 * from[i] + fields.n + fields.more;
  }
  void launch_once() {
    EXPECT_EQ(engine.launch({reinterpret_cast<CUfunction>(&kernel),
                             {4, 1, 1},
                             {32, 1, 1},
                             0,
                             CU_STREAM_LEGACY,
                             parameters,
                             nullptr},
                            direct),
              CUDA_SUCCESS);
    compute(x, y, fields);
    std::swap(x, y);
    std::swap(fields.in, fields.out);
  }
  void launches(unsigned count) {
    for (unsigned k = 0; k < count; ++k)
      launch_once();
  }
  void expect_as_launched_singly() {
    const auto words = [](CUdeviceptr at) {
      const auto* first = reinterpret_cast<const unsigned*>(at);
      return std::vector<unsigned>(first, first + points);
    };
    EXPECT_EQ(words(fields.in), x);
    EXPECT_EQ(words(fields.out), y);
  }
};

// An array of ours takes the place of one of them.
TEST(MergeStructure, OfWhichLessIsCopiedBackThanIsRead) {
  InStructure s;
  auto contract = *contract::decode(s.module.globals[contract::symbol_of("f")]);
  contract.steps[0].stored = {4, expression("4"), {{expression("4"), expression("p0.16s32,1,-")}}};
  s.module.globals[contract::symbol_of("f")] = contract::encode(contract);
  s.engine.forget_handles();
  const auto words = [](CUdeviceptr at) { return reinterpret_cast<unsigned*>(at); };
  words(s.fields.in)[0] = s.x[0] = 5; // rims of their own
  words(s.fields.out)[0] = s.y[0] = 9;
  const DeviceCopy back{s.fields.in + 4, s.fields.out + 4, 4 * (points - 1), CU_STREAM_LEGACY};
  for (unsigned k = 0; k < 200; ++k) {
    if (k == 100) s.engine.merger()->settle(); // entries were loaded anew
    s.launch_once();
    std::swap(s.fields.in, s.fields.out); // they do not move
    std::swap(s.x, s.y);
    if (!s.engine.take_copy(back))
      driver().copy_on_device(back.to, back.from, back.bytes, back.stream);
    std::copy(s.y.begin() + 1, s.y.end(), s.x.begin() + 1);
  }
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_THAT(test::Stencil::made(), HasSubstr("copy f5"));
}

TEST(MergeStructure, EveryNumberOfSteps) {
  for (unsigned count = 1; count <= 30; ++count) {
    InStructure s;
    s.launches(count);
    s.engine.flush();
    s.expect_as_launched_singly();
    if (count > 12) {
      EXPECT_THAT(test::Stencil::made(), HasSubstr("f5")) << count;
    }
  }
}

TEST(MergeStructure, AnotherFieldEndsTheRun) {
  InStructure s;
  for (unsigned k = 0; k < 20; ++k) {
    s.launches(2);
    s.fields.more += 1;
  }
  s.engine.flush();
  s.expect_as_launched_singly();
  EXPECT_THAT(test::Stencil::made(), Not(HasSubstr("f5")));
}

// Nothing that is written may be a variable that a step reads, which has to be there.
TEST(MergeStructure, VariablesAreApart) {
  const auto made = [](std::vector<contract::Variable> variables) {
    InStructure s(std::move(variables));
    s.launches(20);
    s.engine.flush();
    s.expect_as_launched_singly();
    return test::Stencil::made();
  };
  EXPECT_THAT(made({{"v", 8}}), HasSubstr("f5"));
  EXPECT_THAT(made({{"v", 9}}), Not(HasSubstr("f5")));
  EXPECT_THAT(made({{"v", 8}, {"a", 4}}), Not(HasSubstr("f5")));
  EXPECT_THAT(made({{"w", 4}}), Not(HasSubstr("f5")));
}

} // namespace
} // namespace ptxasw::launch
