// Which kernels get an entry for several steps, and what a module says about it.
#include "passes/shared/parameter_places.hpp"
#include "passes/time_tile/entries.hpp"

#include "contract/contract.hpp"
#include "contract/sequences.hpp"
#include "emulator/kernel_text.hpp"
#include "oracle/fake.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace ptxasw::manager {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::string& file) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string golden_text(const std::string& name) {
  return text_of("golden/ptx/" + name + ".ptx");
}

passes::PinnedText not_pinned(const ptx::Module&, const std::vector<std::string>&) {
  return {};
}

auto entries_of(const std::string& text, const Options& options, Assembler& assembler) {
  const auto module = std::make_shared<const ptx::Module>(ptx::parse(text, "test.ptx"));
  emulator::Emulations kept(module, {});
  return passes::make_step_entries(*module, options, not_pinned, kept, assembler);
}

auto entries_of(const std::string& text, const Options& options) {
  oracle::FakeAssembler assembler([](const AssemblyRequest&) { return std::nullopt; });
  return entries_of(text, options, assembler);
}

// The contract of the first kernel of the module, which has four parameters of 24 bytes.
void expect_to_be_read(const std::string& kernel, const ptx::Module& module,
                       const std::vector<contract::Steps>& steps) {
  const contract::Contract contract{.kernel = kernel,
                                    .parameters = 4,
                                    .parameter_bytes = 24,
                                    .places = passes::places_of(module, module.functions[0]),
                                    .variants = {{.entry = kernel, .name = "original"}},
                                    .steps = steps};
  const auto read = contract::decode(contract::encode(contract));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
}

TEST(StepEntries, OfThePlane) {
  Options options;
  options.steps = 3;
  const std::string text = golden_text("iterated2d");
  const auto made = entries_of(text, options);
  ASSERT_EQ(made.size(), 8U);
  const passes::StepEntries& star = made.at("j2d5pt_f32");
  EXPECT_THAT(star.outcome, HasSubstr("an entry does 3 of them"));
  ASSERT_EQ(star.steps.size(), 1U);
  EXPECT_EQ(star.steps[0].entry, "j2d5pt_f32__ptxasw_steps3");
  EXPECT_EQ(star.steps[0].swaps, (std::vector<contract::Swap>{{0, 1}}));
  const ptx::Module module = ptx::parse(text + star.text, "both.ptx");
  EXPECT_EQ(module.functions.back().name, "j2d5pt_f32__ptxasw_steps3");
  EXPECT_EQ(module.functions.back().parameters.size(), 5U);

  expect_to_be_read("j2d5pt_f32", module, star.steps);
}

// Two buffers change places, whatever fields they have.
TEST(StepEntries, OfVectors) {
  Options options;
  options.steps = 3;
  const std::string text = text_of("passes/time_tile/forms/float4_b.ptx");
  const auto made = entries_of(text, options);
  ASSERT_EQ(made.size(), 1U);
  const auto& [kernel, vectors] = *made.begin();
  EXPECT_THAT(vectors.outcome, HasSubstr("from parameter 1 to 0 (4 elements of a place)"));
  ASSERT_EQ(vectors.steps.size(), 1U);
  EXPECT_EQ(vectors.steps[0].swaps, (std::vector<contract::Swap>{{1, 0}}));
  EXPECT_EQ(vectors.steps[0].touched.size(), 2U);
  const ptx::Module module = ptx::parse(text + vectors.text, "both.ptx");
  expect_to_be_read(kernel, module, vectors.steps);
}

// So that one may begin while the one in front of it ends (PTX ISA: griddepcontrol, sm_90, 7.8).
TEST(StepEntries, WaitForWhatIsInFrontOfThemBeforeTheyTouchMemory) {
  Options options;
  options.steps = 3;
  const auto with = [](const std::string& target, const std::string& version) {
    std::string text = golden_text("iterated2d");
    const auto put = [&](const std::string& old, const std::string& now) {
      const std::size_t at = text.find(old);
      ASSERT_NE(at, std::string::npos);
      text.replace(at, old.size(), now);
    };
    put(".target sm_90", ".target " + target);
    put(".version 9.0", ".version " + version);
    return text;
  };
  for (const auto& [text, waits] :
       {std::pair(with("sm_90", "7.8"), true), std::pair(with("sm_120a", "8.7"), true),
        std::pair(with("sm_90", "7.7"), false), std::pair(with("sm_89", "9.0"), false)}) {
    for (const auto& [name, made] : entries_of(text, options)) {
      const std::size_t wait = made.text.find("\ngriddepcontrol.wait;");
      ASSERT_EQ(made.steps.size(), 1U) << name;
      EXPECT_EQ(made.steps[0].waits, waits);
      EXPECT_EQ(wait != std::string::npos, waits);
      if (!waits) continue;
      for (const char* access : {"ld.global", "st.global", "ld.shared", "st.shared", "bra", "ret"})
        EXPECT_LT(wait, made.text.find(access)) << access;
    }
  }
}

// Also where a name is part of what stands in front of it.
TEST(StepEntries, OfSeveralKernelsHaveTheirOwnNames) {
  std::string text = text_of("passes/time_tile/forms/sequences.ptx");
  for (const auto& [old, now] : {std::pair("wave_1", "e"), {"wave_2", "v"}})
    for (std::size_t at = 0; (at = text.find(old, at)) != text.npos;)
      text.replace(at, 6, now);
  contract::SeenSequence seen{{"e", "v"}, {}, {}};
  for (const unsigned n : {0U, 1U, 2U, 3U})
    seen.classes.push_back({n < 2 ? 8U : 4U, {{0, n}, {1, n < 2 ? 1 - n : n}}});
  Options options;
  options.steps_auto = true;
  options.sequences = contract::encode({seen});
  options.fp_contract = FpContract::any;
  const auto made = entries_of(text, options);
  const passes::StepEntries& entries = made.at("e");
  ASSERT_EQ(entries.sequences.size(), 1U) << entries.outcome;
  const ptx::Module module = ptx::parse(text + entries.text, "both.ptx");
  EXPECT_EQ(module.functions.back().name, entries.sequences[0].entry);
}

TEST(StepEntries, AreAsManyAsPay) {
  Options options;
  options.steps_auto = true;
  const auto made = entries_of(golden_text("iterated2d"), options);
  EXPECT_EQ(made.at("j2d9pt_f32").steps.at(0).count, 9U);
  EXPECT_EQ(made.at("j2d9pt_f32").steps.at(2).count, 5U);
  EXPECT_EQ(made.at("j2d9pt_f32").steps.at(3).count, 3U);
  for (const unsigned n : {2U, 3U}) // it is told
    EXPECT_EQ(made.at("j2d9pt_f32").steps.at(n).entry, "j2d9pt_f32__ptxasw_steps9");
  EXPECT_THAT(made.at("j2d9pt_f32").outcome, HasSubstr("; or 5; or 3"));
  EXPECT_EQ(made.at("j2d25pt_f32").steps.size(), 2U);
  EXPECT_EQ(made.at("j2d25pt_f64").steps.size(), 1U);
  EXPECT_EQ(made.at("j2d9pt_f64").steps.at(0).count, 7U);
  EXPECT_EQ(made.at("j2ds9pt_f32").steps.at(0).count, 5U);
  EXPECT_EQ(made.at("j2d25pt_f32").steps.at(0).count, 3U);
  EXPECT_THAT(made.at("j2d25pt_f64").text, HasSubstr(".minnctapersm 3"));
  EXPECT_THAT(made.at("j2d25pt_f64").text, HasSubstr("shfl.sync"));
}

// It is left out between steps: there is nothing to do several times.
TEST(StepEntries, AreNoneOfAKernelThatCopies) {
  Options options;
  options.steps_auto = true;
  const auto made = entries_of(test::kernel_text(R"(
setp.ge.s32 %p1, %r3, %r1;
@%p1 bra out;
cvta.to.global.u64 %rd3, %rd1;
cvta.to.global.u64 %rd4, %rd2;
mul.wide.s32 %rd5, %r3, 4;
add.s64 %rd6, %rd3, %rd5;
add.s64 %rd7, %rd4, %rd5;
ld.global.f32 %f1, [%rd6];
st.global.f32 [%rd7], %f1;
out: ret;)"),
                               options);
  const passes::StepEntries& copy = made.at("k");
  EXPECT_EQ(copy.text, "");
  EXPECT_TRUE(copy.steps.empty());
  ASSERT_TRUE(copy.copy);
  EXPECT_EQ(copy.copy->from, 0U);
  EXPECT_EQ(copy.copy->to, 1U);
  EXPECT_EQ(copy.outcome, "a copy of parameter 0 to 1, left out between steps that are merged");
  EXPECT_EQ(copy.against, Reason::none);
}

// Of as many steps: the larger regions first.
TEST(StepEntries, HaveSmallRegionsForSmallLaunches) {
  Options options;
  options.steps_auto = true;
  const auto made = entries_of(golden_text("iterated2d"), options);
  const auto& star = made.at("j2ds9pt_f32").steps;
  ASSERT_EQ(star.size(), 3U);
  EXPECT_EQ(star[1].entry, "j2ds9pt_f32__ptxasw_steps5_small");
  EXPECT_EQ(star[1].count, star[0].count);
  EXPECT_EQ(star[0].covers, (std::array<unsigned, 3>{104, 60, 1}));
  EXPECT_EQ(star[1].covers, (std::array<unsigned, 3>{44, 44, 1}));
  const auto& wide = made.at("j2ds9pt_f64").steps;
  ASSERT_EQ(wide.size(), 3U);
  EXPECT_EQ(wide[1].covers, (std::array<unsigned, 3>{44, 60, 1}));
  EXPECT_EQ(made.at("j2d5pt_f64").steps.size(), 3U) << "its regions are small";
}

// ptxas says that the largest regions do not stay in registers.
TEST(StepEntries, TakeAShapeThatStaysInRegisters) {
  Options options;
  options.steps_auto = true;
  const auto made = [](bool any_fits) {
    return [any_fits](const AssemblyRequest& request) {
      const bool large = request.text.find("shfl.sync") != std::string::npos ||
                         request.text.find(".maxntid 256\n.minnctapersm 2") != std::string::npos;
      const unsigned stack = large || !any_fits ? 400 : 0;
      return Assembled{.cubin = "",
                       .messages =
                           fmt::format("ptxas info    : Compiling entry function '{0}' for "
                                       "'sm_90'\nptxas info    : Function properties for "
                                       "{0}\n    {1} bytes stack frame, 0 bytes spill stores, "
                                       "0 bytes spill loads\nptxas info    : Used 80 "
                                       "registers, used 1 barriers, 36992 bytes smem\n",
                                       request.entries.at(0), stack)};
    };
  };
  const auto first = [&](bool any_fits) {
    oracle::FakeAssembler assembler(made(any_fits));
    return entries_of(golden_text("iterated2d"), options, assembler).at("j2d5pt_f32").steps.at(0);
  };
  EXPECT_EQ(first(true).count, 7U);  // no small one of nine steps
  EXPECT_EQ(first(false).count, 9U); // all are alike: the first one
  oracle::FakeAssembler assembler(made(false));
  EXPECT_THAT(entries_of(golden_text("iterated3d"), options, assembler).at("j3d7pt_f32").outcome,
              HasSubstr("three axes, and its planes do not stay in registers"));
}

TEST(StepEntries, AreNotTooLong) {
  const std::string text = golden_text("iterated2d");
  const std::size_t store = text.find("\tst.global");
  const std::size_t value = text.find('%', text.find(']', store));
  const std::string name = text.substr(value, text.find(';', value) - value);
  Options options;
  options.steps_auto = true;
  const auto steps_with = [&](unsigned more) {
    std::string added;
    for (unsigned n = 0; n < more; ++n)
      added += fmt::format("\tmul.f32 {0}, {0}, {0};\n", name);
    auto made = entries_of(std::string(text).insert(store, added), options);
    return made.at("j2d5pt_f32");
  };
  const auto most = steps_with(0), some = steps_with(150), none = steps_with(4000);
  ASSERT_FALSE(most.steps.empty());
  ASSERT_FALSE(some.steps.empty());
  EXPECT_EQ(most.steps[0].count, 9U);
  EXPECT_LT(some.steps[0].count, 9U);
  EXPECT_TRUE(none.steps.empty());
  EXPECT_THAT(none.outcome, HasSubstr("an entry has too many instructions"));
}

TEST(StepEntries, AreNotForWhatIsNoStep) {
  Options options;
  options.steps = 3;
  EXPECT_THAT(entries_of(golden_text("matvec"), options).begin()->second.outcome,
              HasSubstr("several paths lead to its stores"));
}

// One entry for several lengths of stretches, which say how many blocks they need.
TEST(StepEntries, MarchAlongThreeAxes) {
  Options options;
  options.steps_auto = true;
  const auto made = entries_of(golden_text("iterated3d"), options);
  const auto& faces = made.at("j3d7pt_f32").steps;
  ASSERT_EQ(faces.size(), 4U);
  for (const unsigned n : {0U, 1U})
    EXPECT_EQ(faces[n].entry, "j3d7pt_f32__ptxasw_steps3");
  for (const unsigned n : {2U, 3U})
    EXPECT_EQ(faces[n].entry, "j3d7pt_f32__ptxasw_steps3_small");
  EXPECT_EQ(faces[0].covers, (std::array<unsigned, 3>{56, 26, 64}));
  EXPECT_EQ(faces[1].covers, (std::array<unsigned, 3>{56, 26, 16}));
  EXPECT_EQ(faces[2].covers, (std::array<unsigned, 3>{26, 26, 16}));
  EXPECT_EQ(faces[3].covers, (std::array<unsigned, 3>{26, 26, 8}));
  EXPECT_EQ(faces[0].blocks_each, 8U);
  EXPECT_EQ(faces[3].blocks_each, 1U);
  for (const contract::Steps& steps : faces)
    EXPECT_EQ(steps.conditions.back().otherwise, "the grid is too small for several steps at once");
  EXPECT_EQ(made.at("j3d27pt_f32").steps.at(0).covers, (std::array<unsigned, 3>{26, 42, 64}));
  EXPECT_EQ(made.at("j3d27pt_f64").steps.at(0).covers, (std::array<unsigned, 3>{26, 24, 64}));
  EXPECT_EQ(made.at("j3d7pt_f64").steps.size(), 2U);
  EXPECT_TRUE(faces[0].waits);
  EXPECT_THAT(made.at("j3d7pt_f32").text, HasSubstr("griddepcontrol.wait"));
  const std::string far = text_of("passes/time_tile/forms/in_space.ptx");
  EXPECT_THAT(entries_of(far, options).at("far").outcome,
              HasSubstr("three axes, and it reads more than one place far"));
  EXPECT_EQ(entries_of(far, options).at("star").steps.at(0).covers,
            (std::array<unsigned, 3>{20, 28, 64}));
  // Other arrays: not as often, and not with a rim.
  const auto others = entries_of(text_of("passes/time_tile/forms/others_in_space.ptx"), options);
  EXPECT_EQ(others.at("source").steps.size(), 4U);
  for (const char* name : {"flux", "power"})
    EXPECT_THAT(others.at(name).outcome,
                HasSubstr("three axes, and it reads other arrays, too often or with a rim"));
}

// A thread that takes all places of an axis is one: places count.
TEST(StepEntries, AreForAsManyPlacesAsGain) {
  Options options;
  options.steps_auto = true;
  const auto steps =
      entries_of(text_of("passes/time_tile/forms/march_e.ptx"), options).begin()->second.steps;
  ASSERT_FALSE(steps.empty());
  contract::Quantities launch;
  const auto is_large_enough = [&](unsigned across, std::uint64_t planes) {
    launch.threads = {across, across, 1};
    launch.parameter = [=](unsigned) -> std::optional<std::uint64_t> { return planes; };
    return contract::evaluate(steps[0].conditions.back().value, launch).value_or(-1) >= 0;
  };
  EXPECT_EQ(steps[0].conditions.back().otherwise,
            "the grid is too small for several steps at once");
  EXPECT_TRUE(is_large_enough(256, 256));
  EXPECT_FALSE(is_large_enough(512, 2));
}

// Where a product may be fused and nobody says whether it is, bits could change.
TEST(StepEntries, WaitForWhatPtxasFuses) {
  Options options;
  options.steps = 3;
  std::string text = golden_text("iterated2d");
  const std::string product =
      "mul.f32 \t%f3, %f2, 0f3DF5C28F;\n\tfma.rn.f32 \t%f4, %f1, 0f3F000000, %f3;";
  const std::size_t at = text.find(product);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, product.size(), "mul.f32 \t%f3, %f2, 0f3DF5C28F;\n\tadd.f32 \t%f4, %f1, %f3;");
  const auto made = entries_of(text, options);
  EXPECT_THAT(made.at("j2d5pt_f32").outcome, HasSubstr("could not be pinned"));
  EXPECT_TRUE(made.at("j2d5pt_f32").steps.empty());
  options.fp_contract = FpContract::any;
  EXPECT_EQ(entries_of(text, options).at("j2d5pt_f32").steps.size(), 1U);
}

// wave(old, now, next, n), inside a rim; or without neighbours.
std::string wave(bool has_neighbours = true) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry wave(.param .u64 old, .param .u64 now, .param .u64 next, .param .u32 n)
{{
.reg .pred %p<4>;
.reg .b32 %r<9>;
.reg .b64 %rd<20>;
.reg .f32 %f<9>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [n];
add.s32 %r6, %r5, -1;
setp.lt.s32 %p1, %r4, 1;
setp.ge.s32 %p2, %r4, %r6;
or.pred %p3, %p1, %p2;
@%p3 bra out;
ld.param.u64 %rd1, [old];
ld.param.u64 %rd2, [now];
ld.param.u64 %rd3, [next];
cvta.to.global.u64 %rd5, %rd1;
cvta.to.global.u64 %rd6, %rd2;
cvta.to.global.u64 %rd7, %rd3;
mul.wide.s32 %rd9, %r4, 4;
add.s64 %rd10, %rd5, %rd9;
add.s64 %rd11, %rd6, %rd9;
add.s64 %rd12, %rd7, %rd9;
ld.global.f32 %f1, [%rd10];
ld.global.f32 %f2, [%rd11+{0}];
ld.global.f32 %f3, [%rd11+-{0}];
add.rn.f32 %f4, %f2, %f3;
sub.rn.f32 %f5, %f4, %f1;
st.global.f32 [%rd12], %f5;
out: ret;
}}
)",
                     has_neighbours ? 4 : 0);
}

// What the kernel reads beside the array that it steps may be coefficients, or turn with it.
TEST(StepEntries, OfThreeArraysInRotation) {
  Options options;
  options.steps_auto = true;
  const passes::StepEntries made = entries_of(wave(), options).at("wave");
  EXPECT_THAT(made.outcome, HasSubstr("; or a time step of three arrays in rotation from parameter "
                                      "1 to 2, reads (-1,0,0) (1,0,0), of the older array 0 reads "
                                      "(0,0,0); an entry does 6 of them"));
  ASSERT_EQ(made.steps.size(), 6U);
  EXPECT_FALSE(made.steps[0].rotation);
  EXPECT_EQ(made.steps[0].swaps, (std::vector<contract::Swap>{{1, 2}}));
  EXPECT_EQ(made.steps[4].entry, "wave__ptxasw_steps6_rotated");
  EXPECT_EQ(made.steps[4].count, 6U);
  EXPECT_EQ(made.steps[4].rotation, (contract::Rotation{.old = 0, .now = 1, .next = 2}));
  EXPECT_TRUE(made.steps[4].swaps.empty());
  EXPECT_EQ(made.steps[5].entry, "wave__ptxasw_steps3_rotated");
  const ptx::Module module = ptx::parse(wave() + made.text, "both.ptx");
  EXPECT_EQ(module.functions.back().name, "wave__ptxasw_steps3_rotated");
  EXPECT_EQ(module.functions.back().parameters.size(), 6U);
  const contract::Contract contract{.kernel = "wave",
                                    .parameters = 4,
                                    .parameter_bytes = 28,
                                    .places = passes::places_of(module, module.functions[0]),
                                    .variants = {{.entry = "wave", .name = "original"}},
                                    .steps = made.steps};
  const auto read = contract::decode(contract::encode(contract));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
}

TEST(StepEntries, OfThreeArraysComeRound) {
  Options options;
  for (const auto& [asked, count] : {std::pair{3U, 3U}, {5U, 3U}, {7U, 6U}, {9U, 9U}}) {
    options.steps = asked;
    const passes::StepEntries made = entries_of(wave(), options).at("wave");
    ASSERT_EQ(made.steps.size(), 2U) << asked;
    EXPECT_EQ(made.steps[0].count, asked);
    EXPECT_EQ(made.steps[1].count, count);
  }
}

TEST(StepEntries, OfThreeArraysAreForWhatReadsNeighbours) {
  Options options;
  options.steps = 3;
  const passes::StepEntries made = entries_of(wave(false), options).at("wave");
  ASSERT_EQ(made.steps.size(), 1U);
  EXPECT_FALSE(made.steps[0].rotation);
  EXPECT_THAT(made.outcome, Not(HasSubstr("rotation")));
}

} // namespace
} // namespace ptxasw::manager
