// Functions as keys and names; what has no semantics; malformed instructions.
#include "semantics/cases.hpp"

#include <set>

namespace ptxasw {
namespace {

TEST(Function, KeysAreInjectiveAndComeBack) {
  std::set<std::uint64_t> keys;
  unsigned count = 0;
  for (const auto fn : {sem::Fn::fadd, sem::Fn::fconvert, sem::Fn::in_window})
    for (const auto to : {ptx::Type::none, ptx::Type::f16, ptx::Type::f64})
      for (const auto from : {ptx::Type::none, ptx::Type::s8, ptx::Type::f32})
        for (const auto rounding : {ptx::Rounding::none, ptx::Rounding::rn, ptx::Rounding::rpi})
          for (const auto space : {ptx::Space::generic, ptx::Space::shared})
            for (unsigned flags = 0; flags < 128; ++flags) {
              const sem::Function f{.fn = fn,
                                    .to = to,
                                    .from = from,
                                    .rounding = rounding,
                                    .ftz = (flags & 1U) != 0,
                                    .sat = (flags & 2U) != 0,
                                    .satfinite = (flags & 4U) != 0,
                                    .nan = (flags & 8U) != 0,
                                    .xorsign = (flags & 16U) != 0,
                                    .abs = (flags & 32U) != 0,
                                    .relu = (flags & 64U) != 0,
                                    .sub = ptx::Sub::none,
                                    .space = space};
              keys.insert(f.key());
              ++count;
              const sem::Function back = sem::Function::from_key(f.key());
              ASSERT_EQ(back.key(), f.key());
              ASSERT_EQ(back.name(), f.name());
            }
  EXPECT_EQ(keys.size(), count);
}

TEST(Function, NamesReadLikeInstructions) {
  const sem::Function add{.fn = sem::Fn::fadd,
                          .to = ptx::Type::f32,
                          .from = ptx::Type::f32,
                          .rounding = ptx::Rounding::rn,
                          .ftz = true};
  EXPECT_EQ(add.name(), "add.rn.ftz.f32");
  const sem::Function cvt{.fn = sem::Fn::signed_to_float,
                          .to = ptx::Type::f64,
                          .from = ptx::Type::s32,
                          .rounding = ptx::Rounding::rz};
  EXPECT_EQ(cvt.name(), "cvt.rz.f64.s32");
  const sem::Function window{.fn = sem::Fn::window, .space = ptx::Space::shared};
  EXPECT_EQ(window.name(), "window.shared");
}

bool has_step(std::string_view form) {
  const harness::Program program(form);
  return program.body.usable && !program.body.insts.empty() &&
         sem::find_step<sem::ConcreteDomain>(program.body, program.body.insts[0]) != nullptr;
}

TEST(FindStep, ApproximationsHaveNoSemantics) {
  for (const char* form : {"sin.approx.f32 r, r",
                           "cos.approx.ftz.f32 r, r",
                           "ex2.approx.f32 r, r",
                           "lg2.approx.f32 r, r",
                           "tanh.approx.f32 r, r",
                           "rsqrt.approx.f32 r, r",
                           "rcp.approx.f32 r, r",
                           "rcp.approx.ftz.f64 d, d",
                           "sqrt.approx.f32 r, r",
                           "div.approx.f32 r, r, r",
                           "div.full.f32 r, r, r",
                           "ex2.approx.f16 h, h",
                           "vadd.s32.s32.s32.sat r, r, r",
                           "vadd.s32.s32.s32 r.h1, r, r, r",
                           "vmad.s32.s32.s32.shr7 r, r, r, r",
                           "vmin.s32.s32.s32.max r, r, r, r",
                           "cvt.rn.e4m3x2.f32 h, r, r",
                           "cvt.rs.satfinite.e4m3x4.f32 r, r, r",
                           "mapa.u64 d, d, r",
                           "shfl.sync.idx.b32 r, r, r, r, r",
                           "cvta.shared.u32 r, r"})
    EXPECT_FALSE(has_step(form)) << form;
}

// An instruction with an operand too few or too many is refused, not stepped.
TEST(FindStep, OperandsAreCounted) {
  for (const forms::Pattern& pattern : forms::patterns)
    for (const std::string& form : forms::expand(pattern.text)) {
      if (form.find(';') != std::string::npos || form.find('{') != std::string::npos) continue;
      const std::size_t last = form.rfind(',');
      const bool optional =
          form.starts_with("min") || form.starts_with("max") || form.starts_with("mov");
      EXPECT_FALSE(has_step(form.substr(0, last)) && !optional) << form.substr(0, last);
      EXPECT_FALSE(has_step(form + ", r") && !optional) << form + ", r";
    }
}

TEST(FindStep, OperandsOfAnotherWidthAreAdapted) {
  harness::expect({
      {"add.s32 r, d, h", {0x100000001, 0xffff}, {0x10000}},
      {"add.s32 d, r, r", {0xffffffff, 0}, {0xffffffff}},
      {"add.s64 r, d, d", {0x123456789, 0}, {0x23456789}},
      {"selp.b32 r, r, r, r", {5, 6, 3}, {5}},
  });
}

TEST(Operation, KnowsTheWidthsOfSinks) {
  const auto widths = [](std::string_view form) {
    const harness::Program program(form);
    return sem::operation(program.body, program.body.insts.at(0)).dst_width;
  };
  using Widths = std::vector<std::uint8_t>;
  EXPECT_EQ(widths("setp.lt.s64 p|_, d, d"), (Widths{1, 1}));
  EXPECT_EQ(widths("lop3.or.b32 _|p, r, r, r, 0x80, p"), (Widths{32, 1}));
  EXPECT_EQ(widths("mov.b64 {_, r}, d"), (Widths{32, 32}));
  EXPECT_EQ(widths("mul.wide.s32 _, r, r"), (Widths{64}));
  EXPECT_EQ(widths("add.cc.u32 r, r, r"), (Widths{32, 1}));
}

} // namespace
} // namespace ptxasw
