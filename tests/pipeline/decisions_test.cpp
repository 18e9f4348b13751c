// Choices that are remembered are the choices that were made, and nothing else is taken for one.
#include "pipeline/decisions.hpp"

#include "machine/fake.hpp"
#include "pipeline/optimize.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace ptxasw::pipeline {
namespace {

class Decisions : public testing::Test {
protected:
  Decisions() {
    std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/jacobi.ptx", std::ios::binary);
    text_ = {std::istreambuf_iterator<char>(in), {}};
    options_.coarsen_auto = options_.coarsen_large = true;
    module_ = ptx::parse(text_, "jacobi.ptx");
    job_.emplace(module_, module_.functions.at(0), options_, true);
  }

  std::string way(std::size_t n, unsigned registers = 0) {
    const Coarsening& how = job_->ways().candidates.at(n).how;
    return fmt::format("jacobi {} {} {} {} {} {} 1.5\n", how.factors[0], how.factors[1],
                       how.factors[2], how.order == CoarsenOrder::copies ? 0 : 1, registers,
                       how.least_threads);
  }
  bool taken(std::string_view decisions) {
    const std::vector<KernelJob*> jobs{&*job_};
    return take(decisions, jobs);
  }

  std::string text_;
  Options options_;
  ptx::Module module_;
  std::optional<KernelJob> job_;
};

TEST_F(Decisions, AreReadAsTheyWereWritten) {
  const Coarsening how = job_->ways().candidates.at(2).how;
  const std::string line = way(2, 64);
  ASSERT_TRUE(taken(line));
  const CoarsenChoices& ways = job_->ways();
  ASSERT_EQ(ways.candidates.size(), 1U);
  EXPECT_TRUE(ways.candidates[0].chosen);
  EXPECT_EQ(ways.candidates[0].how.factors, how.factors);
  EXPECT_EQ(ways.candidates[0].how.registers, 64U);
  const std::vector<KernelJob*> jobs{&*job_};
  EXPECT_EQ(written(jobs), line);
  EXPECT_TRUE(job_->finish().report.changed);
}

TEST_F(Decisions, ThatNothingPaysIsOneToo) {
  ASSERT_TRUE(taken("jacobi -\n"));
  EXPECT_TRUE(job_->ways().candidates.empty());
  EXPECT_FALSE(job_->finish().report.changed);
  const std::vector<KernelJob*> jobs{&*job_};
  EXPECT_EQ(written(jobs), "jacobi -\n");
}

TEST_F(Decisions, WhatDoesNotFitIsNotTaken) {
  const std::size_t before = job_->ways().candidates.size();
  for (const std::string& wrong :
       {std::string(), std::string("jacobi"), std::string("other -\n"), std::string("jacobi - -\n"),
        std::string("jacobi 7 1 1 0 0 0 1.5\n"), std::string("jacobi 1 2 1 0 0\n"),
        std::string("jacobi 1 2 1 2 0 0 1.5\n"), way(0).substr(0, way(0).size() - 5) + "0.5\n",
        way(0, 3), way(0, 300), way(0).substr(0, way(0).size() - 1) + " more\n"}) {
    EXPECT_FALSE(taken(wrong)) << wrong;
    EXPECT_EQ(job_->ways().candidates.size(), before);
    EXPECT_FALSE(job_->ways().decided);
  }
}

class Remembering : public machine::FakeAssembler {
public:
  using FakeAssembler::FakeAssembler;
  std::optional<std::string> recall(const std::string& /*text*/) override { return memory; }
  void remember(const std::string& /*text*/, const std::string& decisions) override {
    memory = decisions;
  }
  std::optional<std::string> memory;
};

TEST_F(Decisions, NothingIsAskedForWhatIsRemembered) {
  Remembering assembler(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return Assembled{}; });
  assembler.memory = "jacobi -\n";
  const Optimized result = run(text_, "jacobi.ptx", options_, true, &assembler);
  EXPECT_FALSE(result.changed);
  EXPECT_TRUE(assembler.asked.empty());
}

TEST_F(Decisions, AreRememberedOnlyIfAllQuestionsWereAnswered) {
  Remembering answers(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return Assembled{}; });
  run(text_, "jacobi.ptx", options_, true, &answers);
  EXPECT_EQ(answers.memory, "jacobi -\n");
  Remembering fails(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return std::nullopt; });
  run(text_, "jacobi.ptx", options_, true, &fails);
  EXPECT_FALSE(fails.memory);
}

} // namespace
} // namespace ptxasw::pipeline
