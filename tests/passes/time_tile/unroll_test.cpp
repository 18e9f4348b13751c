// Loops whose iterations are written one behind the other: the kernel without them does the same
// and touches the same; and which loops are left as they are.
#include "contract/expression.hpp"
#include "passes/time_tile/any_host.hpp"
#include "passes/time_tile/other_kernel/unroll.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw {
namespace {

// --- What is left -------------------------------------------------------------------------------

// One loop: what is in front of it, in it, and how it goes on.
std::string looping(const std::string& front, const std::string& body,
                    const std::string& behind = "") {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{{
.reg .pred %p<9>;
.reg .b32 %r<99>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
mov.u32 %r9, 0;
{}
again:
{}
left:
st.global.u32 [%rd5], %r9;
{}
ret;
}}
)",
                     front, body, behind);
}

constexpr const char* zero = "mov.u32 %r3, 0;";
constexpr const char* usual = "ld.global.u32 %r8, [%rd4];\nadd.u32 %r9, %r9, %r8;\n"
                              "add.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 5;\n@%p1 bra again;";

std::string replaced(std::string text, std::string_view old, std::string_view other) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), other);
}

std::string left_of(const std::string& text, const passes::BlockShape& shape = {}) {
  const auto module = test::parsed(text);
  emulator::Kernel kernel = emulator::emulate(*module, module->functions[0], {}, shape);
  EXPECT_EQ(kernel.trace.refused.text, "");
  return passes::unroll(kernel, {}, shape).left;
}

TEST(Unroll, TakesConstantLoops) {
  EXPECT_EQ(left_of(looping(zero, usual)), "");
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "ne.u32 %p1, %r3, 5", "gt.s32 %p1, 7, %r3"))),
            "");
  EXPECT_EQ(left_of(looping("mov.u32 %r3, 40;", replaced(usual, "%r3, 1;", "%r3, -5;"))), "");
}

TEST(UnrollLeaves, LoopsOfUnknownLength) {
  const std::string not_known = "how often a loop goes round is not known";
  // It begins, goes on or ends where the launch, memory or a thread says.
  EXPECT_EQ(left_of(looping("mov.u32 %r3, %r1;", usual)), not_known);
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "%r3, 1;", "%r3, %r1;"))), not_known);
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "%r3, 5", "%r3, %r1"))), not_known);
  EXPECT_EQ(left_of(looping("ld.global.u32 %r3, [%rd1];", usual)), not_known);
  EXPECT_EQ(left_of(looping("mov.u32 %r3, %r2;", usual)), not_known);
  EXPECT_EQ(left_of(looping("mov.u32 %r3, 0;\nmov.u32 %r4, %ctaid.x;",
                            replaced(usual, "%r3, 5", "%r3, %r4"))),
            not_known);
  // Some iterations do not count.
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "add.u32 %r3, %r3, 1;",
                                           "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra next;\n"
                                           "add.u32 %r3, %r3, 1;\nnext:"))),
            not_known);
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "add.u32 %r3, %r3, 1;",
                                           "setp.eq.u32 %p2, %r8, 0;\n"
                                           "@%p2 add.u32 %r3, %r3, 1;"))),
            not_known);
  EXPECT_EQ(left_of(looping("mov.u32 %r3, 1;",
                            replaced(usual, "add.u32 %r3, %r3, 1;", "mul.lo.s32 %r3, %r3, 3;"))),
            not_known);
  // The predicate is that of another place.
  EXPECT_EQ(left_of(looping("mov.u32 %r3, 0;\nsetp.eq.u32 %p1, %r1, 0;",
                            replaced(usual, "setp.ne.u32 %p1, %r3, 5;", ""))),
            not_known);
}

// From its thread's place on, to one that is a few further: as long as no sum wraps.
TEST(Unroll, TakesLoopsFromAPlace) {
  const std::string near = looping("mov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %ntid.x;\n"
                                   "mad.lo.u32 %r2, %r5, %r6, %r2;\nmov.u32 %r3, %r2;\n"
                                   "add.u32 %r4, %r2, 5;",
                                   replaced(usual, "ne.u32 %p1, %r3, 5", "lt.s32 %p1, %r3, %r4"));
  const auto module = test::parsed(near);
  emulator::Kernel kernel = test::emulate(*module, "k");
  const passes::Unrolled made = passes::unroll(kernel);
  EXPECT_EQ(made.left, "");
  ASSERT_FALSE(made.conditions.empty());
  const auto holds = [&](std::uint64_t threads) {
    return std::ranges::all_of(made.conditions, [&](const contract::Condition& one) {
      const auto value =
          contract::evaluate(one.value, {.parameter = {}, .threads = {threads, 1, 1}});
      return value && *value >= 0;
    });
  };
  EXPECT_TRUE(holds(1024));
  EXPECT_TRUE(holds(0x7fffffff - 4));
  EXPECT_FALSE(holds(0x7fffffff - 3));
  // Below it there is no place in front of the first one.
  const std::string below = replaced(near, "lt.s32", "lt.u32");
  EXPECT_EQ(left_of(replaced(below, "mov.u32 %r3, %r2;", "add.u32 %r3, %r2, -2;")),
            "how often a loop goes round is not known");
}

TEST(UnrollLeaves, LongLoops) {
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "%r3, 5", "%r3, 128"))), "");
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "%r3, 5", "%r3, 129"))),
            "a loop goes round too often");
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "%r3, 1;", "%r3, 2;"))), // never 5 exactly
            "a loop goes round too often");
  // One in the other, of 64 each.
  EXPECT_EQ(left_of(looping(zero, "mov.u32 %r4, 0;\ninner:\nadd.u32 %r9, %r9, %r4;\n"
                                  "add.u32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 64;\n"
                                  "@%p2 bra inner;\nadd.u32 %r3, %r3, 1;\n"
                                  "setp.ne.u32 %p1, %r3, 64;\n@%p1 bra again;")),
            "a loop goes round too often");
}

TEST(UnrollLeaves, LoopsDeepInEachOther) {
  std::string begins, ends;
  for (unsigned n = 0; n < 9; ++n) {
    begins += fmt::format("mov.u32 %r{}, 0;\nl{}:\n", 20 + n, n);
    ends = fmt::format("add.u32 %r{}, %r{}, 1;\nsetp.ne.u32 %p{}, %r{}, {};\n@%p{} bra l{};\n",
                       20 + n, 20 + n, n, 20 + n, n == 4 ? 2 : 1, n, n) +
           ends;
    const std::string text = looping(begins, "add.u32 %r9, %r9, 3;\n" + ends);
    EXPECT_EQ(left_of(text), n < 8 ? "" : "too many loops are in each other");
  }
}

TEST(UnrollLeaves, LoopsOfAnotherForm) {
  const std::string in_front = "a loop is left in front of its end";
  const std::string leaves = "setp.eq.u32 %p2, %r8, 7;\n@%p2 bra left;\nadd.u32 %r3, %r3, 1;";
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "add.u32 %r3, %r3, 1;", leaves))), in_front);
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "add.u32 %r3, %r3, 1;",
                                           "setp.eq.u32 %p2, %r8, 7;\n@%p2 ret;\n"
                                           "add.u32 %r3, %r3, 1;"))),
            in_front);
  EXPECT_EQ(left_of(looping(zero, "setp.ge.u32 %p1, %r3, 5;\n@%p1 bra left;\n"
                                  "add.u32 %r3, %r3, 1;\nbra again;")),
            in_front);
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "add.u32 %r3, %r3, 1;",
                                           "add.u32 %r3, %r3, 1;\nsetp.eq.u32 %p2, %r3, 3;\n"
                                           "@%p2 bra again;"))),
            "a loop goes round from several places");
  // A part of it stands behind the kernel's end.
  EXPECT_EQ(left_of(looping(zero,
                            replaced(usual, "add.u32 %r3, %r3, 1;",
                                     "setp.eq.u32 %p2, %r8, 7;\n@%p2 bra far;\nnear:\n"
                                     "add.u32 %r3, %r3, 1;"),
                            "ret;\nfar:\nadd.u32 %r9, %r9, 1;\nbra near;")),
            "a loop's text is in several places");
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "ld.global.u32 %r8, [%rd4];",
                                           "atom.global.add.u32 %r8, [%rd4], 1;"))),
            "a loop has more than computation, loads and stores");
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "ld.global.u32 %r8, [%rd4];", "bar.sync 0;"))),
            "a loop has more than computation, loads and stores");
  EXPECT_EQ(left_of(looping(zero, ".pragma \"used_bytes_mask 0x3\";\n" + std::string(usual))),
            "a loop has more than computation, loads and stores");
  EXPECT_EQ(left_of(looping(zero, ".pragma \"nounroll\";\n" + std::string(usual))), "");
  EXPECT_EQ(
      left_of(looping(zero, replaced(usual, "add.u32 %r3", ".pragma \"other\";\nadd.u32 %r3"))),
      "a loop declares something");
  EXPECT_EQ(left_of(looping(zero, replaced(usual, "ld.global.u32 %r8, [%rd4];",
                                           "{\n.reg .b32 %t;\nmov.u32 %t, 1;\n"
                                           "add.u32 %r8, %t, %t;\n}"))),
            "a loop declares something");
}

// Of a step whose loops are of unknown length that is what is said.
TEST(UnrollLeaves, AReason) {
  const std::string taps =
      test::read_file(PTXASW_SOURCE_DIR "/tests/passes/time_tile/forms/taps_b.ptx");
  const auto module = test::parsed(replaced(taps, "%r26, 5;", "%r26, %r10;"));
  emulator::Kernel kernel = test::emulate(*module, "");
  const passes::StepPlan plan = passes::StepKernel(kernel).find();
  EXPECT_EQ(plan.refused.reason, Reason::step_loop);
  EXPECT_EQ(plan.refused.text, "how often a loop goes round is not known");
}

// --- The same -----------------------------------------------------------------------------------

struct UnrolledRun {
  std::string error;
  std::vector<std::uint8_t> bytes;
  std::multiset<std::pair<bool, std::uint64_t>> touched; // of each access: a store, where
};

UnrolledRun ran(const std::shared_ptr<const ptx::Module>& module, unsigned block) {
  simt::Memory memory;
  const auto in = memory.allocate("in", test::random_elements(256, 4, false, 1)),
             out = memory.allocate("out", test::random_elements(256, 4, false, 2));
  simt::Launch launch{.grid = {2}, .block = {block}, .arguments = {}};
  launch.arguments = {simt::value(in), simt::value(out), simt::value(std::uint64_t{7})};
  UnrolledRun made;
  launch.observer = [&](const simt::Access& access) {
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((access.mask >> lane & 1) != 0)
        made.touched.emplace(access.kind == simt::Access::Kind::store, access.addresses[lane]);
  };
  const auto program = simt::compile(module, "k");
  if (!program) return {.error = program.error(), .bytes = {}, .touched = {}};
  const simt::Result result = simt::run(**program, launch, memory);
  if (!result.ok()) made.error = result.message;
  made.bytes = memory.find("out")->data;
  return made;
}

void expect_the_same(const std::string& text, const passes::BlockShape& shape, unsigned block) {
  const auto module = test::parsed(text);
  emulator::Kernel kernel = emulator::emulate(*module, module->functions[0], {}, shape);
  const passes::Unrolled made = passes::unroll(kernel, {}, shape);
  ASSERT_EQ(made.left, "") << text;
  ASSERT_TRUE(made.module) << text;
  EXPECT_TRUE(made.kernel.loops.loops.empty());
  const UnrolledRun before = ran(module, block), after = ran(made.module, block);
  EXPECT_EQ(before.error, "") << text;
  EXPECT_EQ(after.error, "") << *made.module->text;
  EXPECT_EQ(before.bytes, after.bytes) << *made.module->text;
  EXPECT_EQ(before.touched, after.touched) << *made.module->text;
}

TEST(Unroll, LeavesTheSame) {
  for (const std::string& text :
       {looping(zero, usual), looping(zero, replaced(usual, "%r3, 5", "%r3, 1")),
        looping("mov.u32 %r3, 40;", replaced(usual, "%r3, 1;", "%r3, -5;")),
        // what is read behind the loop, and what is handed on, with and without branches
        looping(zero, replaced(usual, "add.u32 %r9, %r9, %r8;",
                               "mov.u32 %r9, %r7;\nadd.u32 %r7, %r8, %r3;")),
        looping(zero, replaced(usual, "add.u32 %r9, %r9, %r8;",
                               "setp.gt.s32 %p2, %r8, 7;\n@%p2 bra past;\n"
                               "add.u32 %r9, %r9, %r8;\nmov.u32 %r6, %r3;\npast:\n"
                               "xor.b32 %r9, %r9, %r6;")),
        looping(zero, replaced(usual, "add.u32 %r9, %r9, %r8;",
                               "setp.gt.s32 %p2, %r8, 7;\n@%p2 add.u32 %r9, %r9, %r3;\n"
                               "@!%p2 mov.u32 %r9, %r3;"))})
    expect_the_same(replaced(text, "mov.u32 %r9, 0;",
                             "mov.u32 %r9, 0;\nmov.u32 %r7, 1;\n"
                             "mov.u32 %r6, 2;"),
                    {}, 32);
}

// There may be thousands.
TEST(Unroll, LeavesOutOtherFunctions) {
  const std::string one = looping(zero, usual), other = one.substr(one.find(".visible"));
  const auto module = test::parsed(one + replaced(other, "entry k", "entry other"));
  emulator::Kernel kernel = test::emulate(*module, "k");
  const passes::Unrolled made = passes::unroll(kernel);
  ASSERT_TRUE(made.module);
  ASSERT_EQ(made.module->functions.size(), 1U);
  EXPECT_EQ(made.module->functions[0].name, "k");
}

// Of threads of a block that go round 0 to 4 times.
TEST(Unroll, LeavesTheSameOfEachThread) {
  const std::string text = looping("mov.u32 %r3, %r2;\nsetp.gt.s32 %p3, %r3, 61;\n@%p3 bra left;",
                                   replaced(replaced(usual, "%r3, 1;", "%r3, 16;"),
                                            "ne.u32 %p1, %r3, 5", "lt.s32 %p1, %r3, 62"));
  expect_the_same(text, {64, 1, 1}, 64);
  expect_the_same(text, {16, 1, 1}, 16);
  EXPECT_EQ(left_of(text), "how often a loop goes round is not known");
}

// --- Random loops -------------------------------------------------------------------------------

// Loops in each other and behind each other, over what they may hang on.
class Loops {
public:
  explicit Loops(unsigned seed) : random_(seed) {
    by_thread = chance(1, 2);
    for (unsigned n = 1 + below(2); n > 0; --n)
      loop(0);
  }

  bool by_thread = false; // how often they go round

  [[nodiscard]] std::string text() const {
    std::string made = looping(begin_, "", "");
    made = replaced(made, "again:\n", text_);
    made = replaced(made, "%r<99>", "%r<199>");
    return replaced(made, "%p<9>", "%p<99>");
  }

private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n, unsigned of) { return below(of) < n; }
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + ";\n";
  }

  // From `first` by `step` as long as it is below, or above, or not at `end`.
  void loop(unsigned depth) {
    const unsigned counter = 20 + counters_, p = 10 + counters_;
    ++counters_;
    const bool down = chance(1, 4), of_outer = !outer_.empty() && chance(1, 3),
               of_thread = by_thread && !of_outer && !down && chance(2, 3);
    const int step = 1 + static_cast<int>(below(4)), iterations = 1 + static_cast<int>(below(4));
    const int first = static_cast<int>(below(40)) - 20,
              end = down ? first - iterations * step : first + iterations * step;
    if (of_thread)
      line("mov.u32 %r{}, %r2", counter);
    else if (of_outer)
      line("add.s32 %r{}, %r{}, {}", counter, outer_.back(), 0);
    else
      line("mov.u32 %r{}, {}", counter, first);
    const std::string label = fmt::format("l{}", counter);
    const int last = of_thread || of_outer ? 24 + static_cast<int>(below(30)) : end;
    if (of_thread && chance(2, 3)) {
      line("setp.ge.s32 %p{}, %r{}, {}", p, counter, last);
      line("@%p{} bra past{}", p, counter);
    }
    text_ += label + ":\n";
    outer_.push_back(counter);
    body(depth);
    outer_.pop_back();
    const int by = of_thread ? 16 : of_outer ? 20 : down ? -step : step;
    const bool moved = chance(1, 4); // the counter is compared as it was
    if (moved) line("add.s32 %r{}, %r{}, {}", counter + 60, counter, by);
    if (!moved) line("add.s32 %r{}, %r{}, {}", counter, counter, by);
    line("setp.{}.s32 %p{}, %r{}, {}", down ? "gt" : "lt", p, counter, moved ? last - by : last);
    if (moved) line("mov.u32 %r{}, %r{}", counter, counter + 60);
    line("@%p{} bra {}", p, label);
    text_ += fmt::format("past{}:\n", counter);
  }

  void body(unsigned depth) {
    for (unsigned n = 1 + below(3); n > 0; --n) {
      const unsigned counter = outer_.back(), temporary = 140 + temporaries_++ % 50;
      switch (below(7)) {
      case 0: line("mad.lo.s32 %r9, %r9, 3, %r{}", counter); break;
      case 1:
        line("ld.global.u32 %r{}, [%rd4+{}]", temporary, 4 * below(8));
        line("xor.b32 %r9, %r9, %r{}", temporary);
        break;
      case 2:
        line("and.b32 %r{}, %r{}, 1", temporary, counter);
        line("setp.eq.u32 %p5, %r{}, 1", temporary);
        line("@%p5 add.u32 %r9, %r9, {}", below(99));
        break;
      case 3: // of data
        line("and.b32 %r{}, %r9, 1", temporary);
        line("setp.eq.u32 %p5, %r{}, 1", temporary);
        line("@%p5 bra over{}", labels_);
        line("add.u32 %r9, %r9, %r{}", counter);
        text_ += fmt::format("over{}:\n", labels_++);
        break;
      case 4: line("st.global.u32 [%rd5+{}], %r9", 256 + 4 * below(8)); break;
      case 5: // handed on to the next iteration
        line("add.s32 %r9, %r9, %r7");
        line("mul.lo.s32 %r7, %r{}, 5", counter);
        break;
      default:
        if (depth < 2) loop(depth + 1);
      }
    }
  }

  std::mt19937 random_;
  std::string begin_ = "mov.u32 %r7, 1;\n", text_;
  std::vector<unsigned> outer_; // counters
  unsigned counters_ = 0, temporaries_ = 0, labels_ = 0;
};

TEST(Unroll, LeavesTheSameOfRandomLoops) {
  const unsigned count = test::number_of_seeds("PTXASW_STEPS_FUZZ", 200),
                 first = test::number_of_seeds("PTXASW_STEPS_SEED", 1);
  unsigned unrolled = 0;
  for (unsigned seed = first; seed < first + count && !HasFailure(); ++seed) {
    const Loops loops(seed);
    const passes::BlockShape shape =
        loops.by_thread ? passes::BlockShape{32, 1, 1} : passes::BlockShape{};
    if (left_of(loops.text(), shape) != "") continue; // too long
    ++unrolled;
    expect_the_same(loops.text(), shape, 32);
  }
  EXPECT_GT(unrolled, count / 2);
}

} // namespace
} // namespace ptxasw
