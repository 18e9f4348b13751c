// Choices that are remembered are the choices that were made, and nothing else is taken for one.
#include "manager/decisions.hpp"

#include "contract/contract.hpp"
#include "manager/optimize.hpp"
#include "oracle/fake.hpp"
#include "passes/coarsen/search.hpp"
#include "passes/shared/apply.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ptxasw::manager {
namespace {

class Decisions : public testing::Test {
protected:
  Decisions() {
    std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/jacobi.ptx", std::ios::binary);
    text_ = {std::istreambuf_iterator<char>(in), {}};
    options_.coarsen_auto = options_.coarsen_large = true;
    module_ = ptx::parse(text_, "jacobi.ptx");
    job_.emplace(module_, module_.functions.at(0), options_, all_passes(), Purpose::rewrite);
  }

  std::string way(std::size_t n, unsigned registers = 0) {
    const Coarsening& how = job_->candidates().candidates.at(n).how;
    return fmt::format("way jacobi {} {} {} {} {} {} 1.5\n", how.factors[0], how.factors[1],
                       how.factors[2], how.order == CoarsenOrder::copies ? 0 : 1, registers,
                       how.least_threads);
  }
  bool taken(const std::string& decisions) {
    const std::vector<KernelJob*> jobs{&*job_};
    const auto remembered = read_decisions(decisions + "kept 7\n");
    return remembered && take(*remembered, jobs);
  }

  std::string text_;
  Options options_;
  ptx::Module module_;
  std::optional<KernelJob> job_;
};

// The second best way, if the best one turns out to need more than it did when it was tried.
TEST_F(Decisions, AnotherWayIsTakenOnceTheFirstDoesNotFit) {
  passes::CoarsenChoices& ways = job_->candidates();
  ASSERT_GE(ways.candidates.size(), 3U);
  ways.original.usage = {.registers = 20,
                         .path = StraightPath{.instructions = 60, .stores = 1, .latency = 900}};
  for (CoarsenCandidate& way : ways.candidates)
    way.usage = {.registers = 32,
                 .path = StraightPath{.instructions = 60 * way.how.copies(),
                                      .stores = way.how.copies(),
                                      .latency = 1000}};
  EXPECT_FALSE(passes::choose_another(module_, job_->candidates(),
                                      {.after = Usage{.registers = 40}}, options_))
      << "none was chosen";
  ways.candidates[0].chosen = true;
  const Coarsening first = ways.candidates[0].how;
  ASSERT_TRUE(passes::choose_another(module_, job_->candidates(), {.after = Usage{.registers = 40}},
                                     options_));
  const auto chosen = std::ranges::find_if(ways.candidates, &CoarsenCandidate::chosen);
  EXPECT_FALSE(chosen->how == first);
  EXPECT_TRUE(chosen->verdict.empty());
  for (CoarsenCandidate& way : ways.candidates)
    way.usage->spill_loads = 8;
  EXPECT_FALSE(passes::choose_another(
      module_, job_->candidates(), {.after = Usage{.registers = 32, .spill_stores = 4}}, options_));
}

TEST_F(Decisions, AreReadAsTheyWereWritten) {
  const Coarsening how = job_->candidates().candidates.at(2).how;
  const std::string line = way(2, 64);
  ASSERT_TRUE(taken(line));
  const passes::CoarsenChoices& ways = job_->candidates();
  ASSERT_EQ(ways.candidates.size(), 1U);
  EXPECT_TRUE(ways.candidates[0].chosen);
  EXPECT_EQ(ways.candidates[0].how.factors, how.factors);
  EXPECT_EQ(ways.candidates[0].how.registers, 64U);
  EXPECT_TRUE(job_->finish().report.changed);
  const std::string all =
      line + "way other - search-budget\npin k 1 nsf\npin l 0 t\nkept 18446744073709551615\n";
  const auto remembered = read_decisions(all);
  ASSERT_TRUE(remembered);
  EXPECT_EQ(written(*remembered), all);
}

TEST_F(Decisions, ThatNothingPaysIsOneToo) {
  ASSERT_TRUE(taken("way jacobi - search-budget\n"));
  EXPECT_TRUE(job_->candidates().candidates.empty());
  const KernelReport report = job_->finish().report;
  EXPECT_FALSE(report.changed);
  EXPECT_EQ(report.coarsening.reason, Reason::search_budget) << "the reason that there was";
  EXPECT_THAT(report.coarsening.text, testing::HasSubstr("more than --coarsen-budget"));
}

TEST_F(Decisions, WhatDoesNotFitIsNotTaken) {
  const std::size_t before = job_->candidates().candidates.size();
  for (const std::string& wrong :
       {std::string(), std::string("way jacobi"), std::string("way other - may-lose\n"),
        std::string("jacobi -\n"), std::string("way jacobi - -\n"), std::string("way jacobi -\n"),
        std::string("way jacobi - no-such-reason\n"),
        std::string("way jacobi - may-lose\nway jacobi - may-lose\n"),
        std::string("way jacobi 7 1 1 0 0 0 1.5\n"), std::string("way jacobi 1 2 1 0 0\n"),
        std::string("way jacobi 1 2 1 2 0 0 1.5\n"), std::string("way jacobi - may-lose\nkept 7\n"),
        std::string("way jacobi - may-lose\npin jacobi 1\n"),
        way(0).substr(0, way(0).size() - 5) + "0.5\n", way(0, 3), way(0, 300),
        way(0).substr(0, way(0).size() - 1) + " more\n"}) {
    EXPECT_FALSE(taken(wrong)) << wrong;
    EXPECT_EQ(job_->candidates().candidates.size(), before);
    EXPECT_FALSE(job_->candidates().decided);
  }
  EXPECT_FALSE(read_decisions("way jacobi - may-lose\n")) << "cut off";
}

TEST(RememberedRotations, AreReadAsTheyWereWritten) {
  Remembered remembered;
  remembered.rotations["k"] = {.iterations = 4, .registers = 64};
  const auto read = read_decisions(written(remembered));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rotations, remembered.rotations);
  for (const char* wrong : {"rotate k 4", "rotate k 0 64", "rotate k 17 64", "rotate k 4 300",
                            "rotate k 4 0", "rotate k 4 64 1"})
    EXPECT_FALSE(read_decisions(std::string(wrong) + "\nkept 7\n")) << wrong;
}

class Remembering : public oracle::FakeAssembler {
public:
  using FakeAssembler::FakeAssembler;
  std::optional<Recalled> recall(const std::string& /*text*/) override {
    if (!memory) return std::nullopt;
    return Recalled{*memory, trusted};
  }
  void remember(const std::string& /*text*/, const std::string& decisions) override {
    memory = decisions;
  }
  std::optional<std::string> memory;
  bool trusted = true;
};

std::optional<Assembled> says_nothing(const AssemblyRequest& /*request*/) {
  return Assembled{};
}

TEST_F(Decisions, NothingIsAskedForWhatIsRemembered) {
  Remembering assembler(says_nothing);
  assembler.memory = fmt::format("way jacobi - gains-too-little\nkept {}\n", contract::hash(text_));
  const Optimized result = run(text_, "jacobi.ptx", options_, true, &assembler);
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.report.kernels.size(), 1U);
  options_.details = false;
  EXPECT_TRUE(run(text_, "jacobi.ptx", options_, true, &assembler).report.kernels.empty())
      << "it is not even parsed";
  EXPECT_TRUE(assembler.asked.empty());
}

// The text of a way, kept without any question but the one that has to be asked.
TEST_F(Decisions, OnlyTheTextThatWasKeptIsKeptUnjudged) {
  const std::string chosen = way(1);
  ASSERT_TRUE(taken(chosen));
  passes::FunctionEdits change{0, job_->finish().edits, {}};
  const std::string text = passes::apply(module_, change);
  Remembering assembler(says_nothing);
  assembler.memory = fmt::format("{}kept {}\n", chosen, contract::hash(text));
  EXPECT_EQ(run(text_, "jacobi.ptx", options_, true, &assembler).text, text);
  ASSERT_EQ(assembler.asked.size(), 1U);
  EXPECT_EQ(assembler.asked[0].text, text);
  assembler.asked.clear();
  assembler.memory = chosen + "kept 7\n";
  run(text_, "jacobi.ptx", options_, true, &assembler);
  EXPECT_EQ(assembler.asked.at(0).text, text_) << "all is decided anew";
}

// What anybody could have written is a proposal: the text is kept if it is judged to be right.
TEST_F(Decisions, OfOthersAreJudged) {
  const std::string chosen = way(1);
  ASSERT_TRUE(taken(chosen));
  passes::FunctionEdits change{0, job_->finish().edits, {}};
  const std::string text = passes::apply(module_, change);
  Remembering assembler(says_nothing); // of how many registers it takes, too
  assembler.memory = fmt::format("{}kept {}\n", chosen, contract::hash(text));
  assembler.trusted = false;
  EXPECT_EQ(run(text_, "jacobi.ptx", options_, true, &assembler).text, text_);
  EXPECT_GT(assembler.asked.size(), 1U);
}

TEST_F(Decisions, AreRememberedOnlyIfAllQuestionsWereAnswered) {
  Remembering answers(says_nothing);
  run(text_, "jacobi.ptx", options_, true, &answers);
  EXPECT_EQ(answers.memory,
            fmt::format("way jacobi - gains-too-little\nkept {}\n", contract::hash(text_)));
  Remembering fails(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return std::nullopt; });
  run(text_, "jacobi.ptx", options_, true, &fails);
  EXPECT_FALSE(fails.memory);
}

// What is looked up about as fast as it is decided.
TEST_F(Decisions, AreRememberedIfSomethingWasAskedOrTheTextIsLarge) {
  options_ = {};
  options_.architecture = "sm_90";
  Remembering small(says_nothing);
  EXPECT_FALSE(run(text_, "jacobi.ptx", options_, true, &small).changed);
  EXPECT_TRUE(small.asked.empty());
  EXPECT_FALSE(small.memory);
  Remembering large(says_nothing);
  run(text_ + "//" + std::string(20'000, ' ') + "\n", "jacobi.ptx", options_, true, &large);
  EXPECT_TRUE(large.asked.empty());
  EXPECT_TRUE(large.memory);
}

} // namespace
} // namespace ptxasw::manager
