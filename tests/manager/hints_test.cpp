// What is said would help without anything being tried, and what becomes of what is tried.
#include "ptxasw/hints.hpp"

#include "oracle/fake.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ptxasw {
namespace {

using testing::HasSubstr;

std::string golden(const std::string& name) {
  std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + name + ".ptx", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Report reported(const std::string& name, const Options& options, Assembler* assembler) {
  const std::string text = golden(name);
  Report report = optimize(text, name + ".ptx", options, assembler).report;
  find_hints(text, options, assembler, report);
  return report;
}

const Hint* hint_of(const KernelReport& kernel, std::string_view what) {
  const auto found = std::ranges::find(kernel.hints, what, &Hint::what);
  return found == kernel.hints.end() ? nullptr : &*found;
}

TEST(Hints, ATimeStepIsToldSoUnlessItWasAskedFor) {
  const Report report = reported("jacobi", {}, nullptr);
  ASSERT_EQ(report.kernels.size(), 1U);
  const Hint* hint = hint_of(report.kernels[0], "ptxasw launch");
  ASSERT_NE(hint, nullptr);
  EXPECT_THAT(hint->text, HasSubstr("(a time step): 9 launches become one"));
  Options asked;
  asked.steps = 9;
  EXPECT_EQ(hint_of(reported("jacobi", asked, nullptr).kernels[0], hint->what), nullptr);
  EXPECT_EQ(hint_of(reported("matvec", {}, nullptr).kernels[0], hint->what), nullptr);
}

TEST(Hints, WithoutAnAssemblerThatIsWhatWouldHelp) {
  const KernelReport kernel = reported("jacobi", {}, nullptr).kernels[0];
  EXPECT_NE(hint_of(kernel, "a ptxas to ask"), nullptr);
  EXPECT_EQ(hint_of(kernel, "--coarsen=large"), nullptr) << "nothing was tried";
  EXPECT_FALSE(kernel.hints_sought);
}

// Nothing that is tried is for the caller to keep, or to remember for this text.
class Witness final : public oracle::FakeAssembler {
public:
  Witness() : FakeAssembler([](const AssemblyRequest&) { return std::nullopt; }) {}
  using FakeAssembler::assemble;
  std::optional<Assembled> keep(const std::string&) override {
    ++kept;
    return Assembled{};
  }
  std::optional<Recalled> recall(const std::string&) override {
    ++kept;
    return std::nullopt;
  }
  void remember(const std::string&, const std::string&) override { ++kept; }
  unsigned kept = 0;
};

TEST(Hints, WhatIsTriedIsNotKept) {
  const std::string text = golden("transposed");
  Witness witness;
  Report report = optimize(text, "transposed.ptx", {}, nullptr).report;
  find_hints(text, {}, &witness, report);
  EXPECT_EQ(witness.kept, 0U);
  EXPECT_FALSE(witness.asked.empty()) << "something was tried";
  EXPECT_TRUE(std::ranges::all_of(report.kernels, &KernelReport::hints_sought));
}

TEST(Hints, OfWhatIsNoModule) {
  Report report;
  find_hints("", {}, nullptr, report);
  EXPECT_TRUE(report.kernels.empty());
  EXPECT_TRUE(report.messages.empty());
}

} // namespace
} // namespace ptxasw
