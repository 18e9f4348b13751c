// First come, first served, and nobody is asked in vain.
#include "manager/passes.hpp"

#include "emulator/kernel_text.hpp"
#include "ptxasw/ptxasw.hpp"

#include <gmock/gmock.h>

#include <set>

namespace ptxasw::manager {
namespace {

using passes::uses_blocks;
using passes::uses_loads;

std::vector<std::string> words; // what the passes below were asked to do

// Emits, or yields, and writes it down.
class Logged : public passes::Pass {
public:
  Logged(std::string name, unsigned changes, std::size_t edits, bool again)
      : name_(std::move(name)), changes_(changes), edits_(edits), again_(again) {}
  void find(passes::Analysed&) override { words.push_back("find " + name_); }
  [[nodiscard]] bool has_plan() const override { return true; }
  passes::Emitted emit(passes::Analysed&) override {
    words.push_back("emit " + name_);
    deferred_ = false;
    return {std::vector<ptx::Edit>(edits_), changes_, name_ + " has it", again_};
  }
  void yield(passes::Analysed&, const passes::Emitted& other) override {
    words.push_back("yield " + name_ + ": " + other.claim);
    deferred_ = other.again;
  }
  void describe(const passes::Analysed&, KernelReport&) const override {}
  [[nodiscard]] bool is_deferred() const override { return deferred_; }

private:
  std::string name_;
  unsigned changes_;
  std::size_t edits_;
  bool again_, deferred_ = false;
};

template <char name, unsigned needs, unsigned changes, std::size_t edits = 1, bool again = false>
const passes::PassRow row{
    .name = "pass",
    .needs = needs,
    .decision = &KernelReport::shuffling,
    .undone = "",
    .start = [](const Options&, const ptx::Function&) -> std::unique_ptr<passes::Pass> {
      return std::make_unique<Logged>(std::string(1, name), changes, edits, again);
    }};

class PassesTest : public testing::Test {
protected:
  // The number of edits; leaves the words.
  std::size_t edits_of(const PassList& list) {
    words.clear();
    const ptx::Module module = ptx::parse(test::kernel_text("ret;"), "test.ptx");
    const ptx::Function& function = module.functions.front();
    const Options options;
    const passes::FunctionFacts facts(module, function, options);
    emulator::Kernel kernel = emulator::emulate(module, function);
    sym::Solver solver(*kernel.context);
    passes::Analysed analysed{.kernel = kernel,
                              .solver = solver,
                              .function = function,
                              .options = options,
                              .facts = facts};
    KernelPasses passes(list, options, function);
    const std::size_t edits = passes.emit(analysed).size();
    deferred_ = passes.deferred().size();
    emitted_ = passes.emitted().size();
    return edits;
  }
  std::size_t deferred_ = 0, emitted_ = 0;
};

TEST_F(PassesTest, TheFirstTakesWhatItChanges) {
  EXPECT_EQ(edits_of({&row<'a', uses_loads, uses_loads>, &row<'b', uses_loads, uses_loads>,
                      &row<'c', uses_blocks, uses_blocks>}),
            2U);
  EXPECT_THAT(words, testing::ElementsAre("emit a", "yield b: a has it", "emit c"));
  EXPECT_EQ(emitted_, 2U);
  EXPECT_EQ(deferred_, 0U);
}

TEST_F(PassesTest, WhatComesToNothingTakesNothing) {
  EXPECT_EQ(edits_of({&row<'a', uses_loads, uses_loads, 0>, &row<'b', uses_loads, uses_loads>}),
            1U);
  EXPECT_THAT(words, testing::ElementsAre("emit a", "emit b"));
}

TEST_F(PassesTest, WhatWasChangedCountsNotWhatWasNeeded) {
  EXPECT_EQ(edits_of({&row<'a', uses_blocks, uses_blocks | uses_loads>,
                      &row<'b', uses_loads, uses_loads>}),
            1U);
  EXPECT_THAT(words, testing::ElementsAre("emit a", "yield b: a has it"));
}

TEST_F(PassesTest, WhatMayBeFoundAgainIsDeferred) {
  edits_of({&row<'a', uses_blocks, uses_blocks | uses_loads, 1, true>,
            &row<'b', uses_loads, uses_loads>});
  EXPECT_EQ(deferred_, 1U);
}

// What is only called has no blocks to merge. (What ptxas may fuse in all that it calls was counted
// for each function of a module: 2,000 that call each other took seconds.)
TEST_F(PassesTest, NothingIsPlannedForFunctionsThatAreOnlyCalled) {
  const auto planned = [](const std::string& text) {
    for (const PassStatistics& pass : optimize(text, "f.ptx", Options{}).report.passes)
      if (pass.pass == "coarsen") return pass.planned;
    return ~0U;
  };
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n", body = " { ret; }\n";
  EXPECT_EQ(planned(head + ".func f()" + body), 0U);
  EXPECT_EQ(planned(head + ".visible .entry k()" + body), 1U);
}

// The list tells the order, and each of its rows where its outcome stands in a report.
TEST_F(PassesTest, AllHaveANameAndARowOfTheReport) {
  std::set<std::string_view> names;
  std::set<const void*> decisions;
  const KernelReport report;
  for (const passes::PassRow* row : all_passes()) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_TRUE(decisions.insert(&(report.*row->decision)).second) << row->name;
  }
}

} // namespace
} // namespace ptxasw::manager
