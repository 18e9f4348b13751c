// Kernels that copy: what their contract says is what they copy, neither more nor less.
#include "emulator/kernel_text.hpp"
#include "passes/time_tile/any_host.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ptxasw::step_copy_test {
namespace {

using test::StepHost;
using test::Stepped;

constexpr std::string_view across = R"(
mov.u32 %r4, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.s32 %r10, %r4, %r5, %r3;
)";
constexpr std::string_view down = R"(
mov.u32 %r6, %ctaid.y;
mov.u32 %r7, %ntid.y;
mov.u32 %r8, %tid.y;
mad.lo.s32 %r11, %r6, %r7, %r8;
)";
constexpr std::string_view in_line = R"(
setp.ge.s32 %p1, %r10, %r1;
@%p1 bra out;
mov.u32 %r9, %r10;
)";
constexpr std::string_view in_plane = R"(
setp.ge.s32 %p1, %r10, %r1;
setp.ge.s32 %p2, %r11, %r2;
or.pred %p3, %p1, %p2;
@%p3 bra out;
mad.lo.s32 %r9, %r11, %r1, %r10;
)";
constexpr std::string_view inside = R"(
setp.lt.s32 %p1, %r10, 1;
@%p1 bra out;
add.s32 %r12, %r1, -1;
setp.ge.s32 %p2, %r10, %r12;
@%p2 bra out;
setp.lt.s32 %p3, %r11, 1;
@%p3 bra out;
add.s32 %r13, %r2, -2;
setp.ge.s32 %p4, %r11, %r13;
@%p4 bra out;
mad.lo.s32 %r9, %r11, %r1, %r10;
)";
constexpr std::string_view addresses = R"(
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mul.wide.s32 %rd7, %r9, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
)";
constexpr std::string_view copied = R"(
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
)";

template <class... Parts> std::string kernel(const Parts&... parts) {
  std::string body(across);
  (body.append(parts), ...);
  return test::kernel_text(body + "out: ret;");
}

std::set<std::uint64_t> elements_of(const contract::PlacedElements& elements) {
  std::set<std::uint64_t> all{elements.first};
  for (const auto& [stride, count] : elements.along) {
    std::set<std::uint64_t> more;
    for (const std::uint64_t at : all)
      for (std::uint64_t n = 0; n < count; ++n)
        more.insert(at + n * stride);
    all = std::move(more);
  }
  return all;
}

// Loads and stores of a launch on the interpreter are the elements that the contract says; or it
// says why it is not known. How many launches it knew.
unsigned compare(const Stepped& stepped, unsigned most_blocks) {
  unsigned known = 0;
  for (const auto& [nx, ny] : {std::pair{1U, 1U}, {3U, 4U}, {33U, 5U}, {40U, 17U}, {300U, 8U}})
    for (unsigned less = 0; less <= most_blocks; ++less) {
      StepHost host = host_for(stepped, nx, ny, {32, 4, 1}, 1);
      if (host.grid.x <= less) continue;
      host.grid.x -= less;
      const auto outcome = host.run(1, true);
      if (!outcome.error.empty()) {
        ADD_FAILURE() << outcome.error;
        continue;
      }
      contract::Contract contract = stepped.contract;
      contract.copy = stepped.plan.copy;
      const auto values = host.place().first;
      const contract::StepLaunch launch{{host.grid.x, host.grid.y, host.grid.z},
                                        {host.block.x, host.block.y, host.block.z},
                                        StepHost::bytes_of(values)};
      const auto fitted = contract::fit_copy(contract, launch);
      if (!fitted) continue;
      ++known;
      contract::Quantities quantities;
      quantities.parameter = [&](unsigned part) {
        return std::optional(contract::address_in(StepHost::bytes_of(values), part));
      };
      quantities.threads = {std::uint64_t{host.grid.x} * host.block.x,
                            std::uint64_t{host.grid.y} * host.block.y, 1};
      quantities.block = {host.block.x, host.block.y, 1};
      for (const bool stores : {false, true}) {
        const auto placed =
            contract::place(contract.copy->elements, quantities,
                            contract::address_in(StepHost::bytes_of(values),
                                                 stores ? contract.copy->to : contract.copy->from),
                            false);
        if (!placed) {
          ADD_FAILURE() << "not known";
          continue;
        }
        EXPECT_EQ(elements_of(*placed), stores ? outcome.stored : outcome.loaded)
            << nx << 'x' << ny;
      }
    }
  return known;
}

TEST(StepCopy, IsToldExactly) {
  const Stepped line(kernel(in_line, addresses, copied), "k", {.count = 3});
  ASSERT_TRUE(line.plan.copy);
  EXPECT_EQ(line.plan.copy->from, 0U);
  EXPECT_EQ(line.plan.copy->to, 1U);
  EXPECT_EQ(compare(line, 1), 6U);
  const Stepped plane(kernel(down, in_plane, addresses, copied), "k", {.count = 3});
  ASSERT_TRUE(plane.plan.copy);
  EXPECT_GE(compare(plane, 1), 5U);
  const Stepped interior(kernel(down, inside, addresses, copied), "k", {.count = 3});
  ASSERT_TRUE(interior.plan.copy);
  EXPECT_GE(compare(interior, 1), 4U);
  const Stepped all(kernel("mov.u32 %r9, %r10;", addresses, copied), "k", {.count = 3});
  ASSERT_TRUE(all.plan.copy);
  const Stepped bytes(kernel(in_line, R"(
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
cvt.s64.s32 %rd7, %r9;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
ld.global.u8 %rs1, [%rd5];
st.global.u8 [%rd6], %rs1;
)"),
                      "k", {.count = 3});
  ASSERT_TRUE(bytes.plan.copy);
  EXPECT_EQ(bytes.plan.copy->elements.bytes, 1U);
  EXPECT_EQ(compare(bytes, 1), 6U);
}

// Threads that go from place to place: all places are some thread's, however few there are.
TEST(StepCopy, IsToldExactlyInALoop) {
  constexpr std::string_view loop = R"(
setp.ge.s32 %p1, %r10, %r1;
@%p1 bra out;
mov.u32 %r20, %nctaid.x;
mul.lo.s32 %r21, %r20, %r5;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
again:
mul.wide.s32 %rd7, %r10, 4;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
add.s32 %r10, %r10, %r21;
setp.lt.s32 %p2, %r10, %r1;
@%p2 bra again;
)";
  const Stepped line(kernel(loop), "k", {.count = 3});
  ASSERT_TRUE(line.plan.copy) << line.plan.refused.text;
  EXPECT_EQ(compare(line, 2), 5U);
}

// What a step stores is among what its contract says.
TEST(StepCopy, StepsSayWhatTheyStore) {
  const Stepped step(kernel(down, inside, addresses, R"(
ld.global.f32 %f1, [%rd5+-4];
ld.global.f32 %f2, [%rd5+4];
add.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd6], %f3;
)"),
                     "k", {.count = 3});
  ASSERT_EQ(step.entry.refused.text, "");
  EXPECT_FALSE(step.plan.copy);
  ASSERT_TRUE(step.entry.contract.stored);
  const StepHost host = host_for(step, 37, 21, {32, 4, 1}, 1);
  const auto outcome = host.run(1, true);
  const auto values = host.place().first;
  const auto fitted =
      contract::fit(step.contract, step.entry.contract,
                    {{host.grid.x, host.grid.y, 1}, {32, 4, 1}, StepHost::bytes_of(values)});
  ASSERT_TRUE(fitted) << fitted.error();
  EXPECT_EQ(elements_of(fitted->stored), outcome.stored);
}

constexpr std::string_view star = R"(
mul.wide.s32 %rd8, %r1, 4;
add.s64 %rd9, %rd5, %rd8;
sub.s64 %rd10, %rd5, %rd8;
ld.global.f32 %f1, [%rd5+-4];
ld.global.f32 %f2, [%rd9];
ld.global.f32 %f3, [%rd10];
sub.rn.f32 %f4, %f1, %f2;
add.rn.f32 %f5, %f4, %f3;
st.global.f32 [%rd6], %f5;
)";

// A step and a copy of its interior, over and over; merged as the launcher does it
// (src/launch/steps/make_run.cpp), by an array that has the rim of the one that is read.
struct Jacobi {
  Stepped step{kernel(down, inside, addresses, star),
               "k",
               {.count = 3, .width = 32, .strips = 4, .rows = 8}};
  Stepped copy{kernel(down, inside, addresses, copied), "k", {.count = 3}};
  StepHost host;
  unsigned merged = 0;

  Jacobi(unsigned nx, unsigned ny) : host(host_for(step, nx, ny, {32, 4, 1}, nx)) {}

  StepHost::Outcome run(unsigned steps, bool merges) {
    auto [values, memory] = host.place();
    const std::uint64_t a = contract::address_in(StepHost::bytes_of(values), 0),
                        b = contract::address_in(StepHost::bytes_of(values), 1);
    StepHost::Outcome all{.error = "", .memory = std::move(memory), .loaded = {}, .stored = {}};
    const auto make = [&](const simt::Program& program, std::uint64_t from, std::uint64_t to) {
      StepHost::put(values, 0, from);
      StepHost::put(values, 1, to);
      StepHost::launch(program, host.grid, host.block, values, nullptr, all);
    };
    const auto pair = [&] {
      make(*step.single, a, b);
      make(*copy.single, b, a);
      --steps;
    };
    if (merges && steps > 0) {
      pair();
      StepHost::put(values, 0, a);
      StepHost::put(values, 1, b);
      steps = groups(values, steps, all);
    }
    while (steps > 0 && all.error.empty())
      pair();
    return all;
  }
  // How many steps are left.
  unsigned groups(StepHost::Values values, unsigned steps, StepHost::Outcome& all) {
    const std::uint64_t a = contract::address_in(StepHost::bytes_of(values), 0),
                        b = contract::address_in(StepHost::bytes_of(values), 1);
    const auto fitted = host.fit(values);
    if (!fitted) return steps;
    const std::uint64_t ours = contract::fourth_at(
        *fitted, b, all.memory.allocate_undefined("ours", contract::fourth_bytes(*fitted)));
    const std::uint64_t behind = fitted->next->begin - b;
    for (std::uint64_t n = 0; n < fitted->next->end - fitted->next->begin; ++n) {
      auto *from = all.memory.find(a + behind + n, 1), *to = all.memory.find(ours + behind + n, 1);
      to->data[ours + behind + n - to->base] = from->data[a + behind + n - from->base];
      to->defined[ours + behind + n - to->base] = from->defined[a + behind + n - from->base];
    }
    StepHost::put(values, 1, ours);
    for (; steps >= 3 + 2 && all.error.empty(); steps -= 3) {
      StepHost::launch(*step.merged, {fitted->grid[0], fitted->grid[1], 1},
                       {fitted->block[0], fitted->block[1], 1}, values, &fitted->threads, all);
      std::swap(values[0], values[1]);
      ++merged;
    }
    if (contract::address_in(StepHost::bytes_of(values), 0) == ours) {
      StepHost::launch(*step.single, host.grid, host.block, values, nullptr, all);
      --steps;
    }
    return steps;
  }
};

TEST(StepCopy, LeavesTheSameWhereItIsLeftOut) {
  for (const auto& [nx, ny] : {std::pair{3U, 4U}, {37U, 21U}, {70U, 35U}}) {
    Jacobi j(nx, ny);
    ASSERT_EQ(j.step.entry.refused.text, "");
    ASSERT_TRUE(j.copy.plan.copy);
    for (const unsigned steps : {1U, 5U, 6U, 7U, 9U, 12U}) {
      const auto plain = j.run(steps, false), other = j.run(steps, true);
      ASSERT_EQ(plain.error + other.error, "");
      EXPECT_FALSE(simt::first_difference(plain.memory, other.memory))
          << nx << 'x' << ny << ", " << steps << " steps";
    }
    EXPECT_EQ(j.merged, 7U);
  }
}

TEST(StepCopy, OnlyOfWhatTheGuardsTell) {
  const auto is_copy = [](const std::string& text) {
    return Stepped(text, "k", {.count = 3}).plan.copy.has_value();
  };
  ASSERT_TRUE(is_copy(kernel(down, in_plane, addresses, copied)));
  EXPECT_FALSE(is_copy(
      kernel(down, in_plane, "setp.eq.s32 %p5, %r2, 77;\n@%p5 bra out;\n", addresses, copied)))
      << "all or nothing";
  EXPECT_FALSE(is_copy(kernel(down, in_plane, R"(
and.b32 %r20, %r10, 1;
setp.eq.s32 %p5, %r20, 0;
@%p5 bra out;
)",
                              addresses, copied)))
      << "every second one";
  EXPECT_FALSE(is_copy(kernel(down, in_plane, R"(
setp.lt.s32 %p5, %r10, %r11;
@%p5 bra out;
)",
                              addresses, copied)))
      << "a triangle";
  EXPECT_FALSE(is_copy(kernel(down, in_plane, addresses, R"(
ld.global.f32 %f1, [%rd5];
setp.lt.f32 %p5, %f1, 0f00000000;
@%p5 bra out;
st.global.f32 [%rd6], %f1;
)"))) << "as data say";
}

// Elements of two words: both of them, each to its own place.
TEST(StepCopy, OfBothWords) {
  const auto is_copy = [](std::string_view work) {
    return Stepped(kernel(in_line, R"(
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mul.wide.s32 %rd7, %r9, 8;
add.s64 %rd5, %rd3, %rd7;
add.s64 %rd6, %rd4, %rd7;
)",
                          work),
                   "k", {.count = 3})
        .plan.copy.has_value();
  };
  constexpr std::string_view both = "ld.global.v2.f32 {%f1, %f2}, [%rd5];\n";
  EXPECT_TRUE(is_copy(std::string(both) + "st.global.v2.f32 [%rd6], {%f1, %f2};\n"));
  EXPECT_FALSE(is_copy(std::string(both) + "st.global.v2.f32 [%rd6], {%f2, %f1};\n"));
  EXPECT_FALSE(is_copy(std::string(both) + "st.global.v2.f32 [%rd6], {%f1, %f1};\n"));
  EXPECT_FALSE(is_copy("ld.global.f32 %f1, [%rd5];\nst.global.v2.f32 [%rd6], {%f1, %f1};\n"));
}

TEST(StepCopy, OnlyOfWhatWasLoaded) {
  const auto is_copy = [](std::string_view work) {
    return Stepped(kernel(down, in_plane, addresses, work), "k", {.count = 3})
        .plan.copy.has_value();
  };
  EXPECT_FALSE(is_copy("ld.global.f32 %f1, [%rd5];\nadd.rn.f32 %f2, %f1, %f1;\n"
                       "st.global.f32 [%rd6], %f2;\n"));
  EXPECT_FALSE(is_copy("ld.global.f32 %f1, [%rd5+4];\nst.global.f32 [%rd6], %f1;\n"));
  EXPECT_FALSE(is_copy("ld.global.f32 %f1, [%rd5];\nld.global.f32 %f2, [%rd5+4];\n"
                       "st.global.f32 [%rd6], %f2;\n"));
  EXPECT_FALSE(is_copy("ld.global.f32 %f1, [%rd5];\nst.global.f32 [%rd6], 0f00000000;\n"));
  EXPECT_FALSE(is_copy("ld.global.f32 %f1, [%rd5];\nabs.f32 %f1, %f1;\n"
                       "st.global.f32 [%rd6], %f1;\n"));
  EXPECT_FALSE(is_copy(R"(
setp.lt.s32 %p5, %r10, 3;
@%p5 bra other;
ld.global.f32 %f1, [%rd5];
st.global.f32 [%rd6], %f1;
bra out;
other:
ld.global.f32 %f2, [%rd5];
neg.f32 %f3, %f2;
st.global.f32 [%rd6], %f3;
)"));
}

} // namespace
} // namespace ptxasw::step_copy_test
