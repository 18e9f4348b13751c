// Choices that are remembered are the choices that were made, and nothing else is taken for one.
#include "manager/decisions.hpp"

#include "contract/contract.hpp"
#include "contract/json_reader.hpp"
#include "manager/optimize.hpp"
#include "oracle/fake.hpp"
#include "passes/coarsen/search/search.hpp"
#include "passes/shared/apply.hpp"
#include "source_dir.hpp"
#include "words/hash.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

namespace ptxasw::manager {
namespace {

constexpr const char* none_gains = R"({"kernel":"jacobi","refused":"gains-too-little"})";

class Decisions : public testing::Test {
protected:
  Decisions() {
    std::ifstream in(PTXASW_SOURCE_DIR "/tests/golden/ptx/jacobi.ptx", std::ios::binary);
    text_ = {std::istreambuf_iterator<char>(in), {}};
    options_.coarsen_auto = options_.coarsen_large = true;
    module_ = ptx::parse(text_, "jacobi.ptx");
    job_.emplace(module_, module_.functions.at(0), options_, all_passes(), Purpose::rewrite);
  }

  std::string way(std::size_t n, unsigned registers = 0, const char* gain = "1.5") {
    const Coarsening& how = job_->candidates().candidates.at(n).how;
    return fmt::format(R"({{"kernel":"jacobi","factors":[{},{},{}],"order":"{}","registers":{},)"
                       R"("least_threads":{},"gain":{}}})",
                       how.factors[0], how.factors[1], how.factors[2],
                       how.order == CoarsenOrder::copies ? "copies" : "instructions", registers,
                       how.least_threads, gain);
  }
  static std::string all(const std::string& coarsening, const std::string& pins = "",
                         const std::string& loops = "", std::uint64_t kept = ~std::uint64_t{0}) {
    return fmt::format(R"({{"coarsening":[{}],"loop_carry":{{{}}},"pin_fma":{{{}}},)"
                       R"("kept":"{}"}})",
                       coarsening, loops, pins, hexadecimal(kept));
  }
  static std::string kept(const std::string& coarsening, const std::string& text) {
    return all(coarsening, "", "", words::hash(text));
  }
  bool taken(const std::string& decisions) {
    const std::vector<KernelJob*> jobs{&*job_};
    const auto remembered = read_decisions(decisions);
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
  ASSERT_TRUE(taken(all(line)));
  const passes::CoarsenChoices& ways = job_->candidates();
  ASSERT_EQ(ways.candidates.size(), 1U);
  EXPECT_TRUE(ways.candidates[0].chosen);
  EXPECT_EQ(ways.candidates[0].how.factors, how.factors);
  EXPECT_EQ(ways.candidates[0].how.registers, 64U);
  EXPECT_TRUE(job_->finish().report.changed);
  const std::string more = all(line + R"(,{"kernel":"other","refused":"search-budget"})",
                               R"("k":{"identical":true,"choices":"nsf"},)"
                               R"("l":{"identical":false,"choices":"t"})",
                               R"("k":{"iterations":2,"registers":40})");
  const auto remembered = read_decisions(more);
  ASSERT_TRUE(remembered);
  EXPECT_EQ(written(*remembered), more);
}

TEST_F(Decisions, ThatNothingPaysIsOneToo) {
  ASSERT_TRUE(taken(all(R"({"kernel":"jacobi","refused":"search-budget"})")));
  EXPECT_TRUE(job_->candidates().candidates.empty());
  const KernelReport report = job_->finish().report;
  EXPECT_FALSE(report.changed);
  EXPECT_EQ(report.coarsening.reason, Reason::search_budget) << "the reason that there was";
  EXPECT_THAT(report.coarsening.text, testing::HasSubstr("more than --coarsen-budget"));
}

TEST_F(Decisions, WhatDoesNotFitIsNotTaken) {
  const std::size_t before = job_->candidates().candidates.size();
  const std::string lost = R"({"kernel":"jacobi","refused":"may-lose"})";
  const auto in_lost = [&](const std::string& pins, const std::string& loops) {
    return all(lost, pins, loops);
  };
  const std::string whole = all(lost);
  for (const std::string& wrong :
       {std::string(),
        std::string("{}"),
        std::string("[]"),
        whole.substr(0, whole.size() - 1),
        whole + whole,
        all(""),
        all("{}"),
        all(R"({"kernel":"jacobi"})"),
        all(R"({"kernel":"other","refused":"may-lose"})"),
        all(lost + ',' + lost),
        all(R"({"kernel":"jacobi","refused":"no-such-reason"})"),
        all(R"({"kernel":"jacobi","refused":1})"),
        all(R"({"kernel":"jacobi","factors":[7,1,1],"order":"copies","registers":0,)"
            R"("least_threads":0,"gain":1.5})"),
        all(R"({"kernel":"jacobi","factors":[1,2],"order":"copies","registers":0,)"
            R"("least_threads":0,"gain":1.5})"),
        all(R"({"kernel":"jacobi","factors":[1,2,1],"order":"others","registers":0,)"
            R"("least_threads":0,"gain":1.5})"),
        all(way(0, 0, "0.5")),
        all(way(0, 0, "null")),
        all(way(0, 3)),
        all(way(0, 300)),
        in_lost(R"("jacobi":{"identical":1,"choices":"n"})", ""),
        in_lost(R"("jacobi":{"identical":true})", ""),
        in_lost(R"("jacobi":[])", ""),
        in_lost("", R"("jacobi":{"iterations":0,"registers":40})"),
        in_lost("", R"("jacobi":{"iterations":17,"registers":40})"),
        in_lost("", R"("jacobi":{"iterations":2,"registers":0})"),
        in_lost("", R"("jacobi":{"iterations":2,"registers":300})"),
        in_lost("", R"("jacobi":{"iterations":2})")}) {
    EXPECT_FALSE(taken(wrong)) << wrong;
    EXPECT_EQ(job_->candidates().candidates.size(), before);
    EXPECT_FALSE(job_->candidates().decided);
  }
  EXPECT_TRUE(taken(whole));
}

TEST(RememberedRotations, AreReadAsTheyWereWritten) {
  Remembered remembered;
  remembered.rotations["k"] = {.iterations = 4, .registers = 64};
  const auto read = read_decisions(written(remembered));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rotations, remembered.rotations);
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

class RememberingAll : public oracle::FakeAssembler {
public:
  using FakeAssembler::FakeAssembler;
  std::optional<Recalled> recall(const std::string& text) override {
    const auto found = memory.find(text);
    if (found == memory.end()) return std::nullopt;
    return Recalled{found->second, trusted};
  }
  void remember(const std::string& text, const std::string& decisions) override {
    memory[text] = decisions;
  }
  std::map<std::string, std::string> memory;
  bool trusted = true;
};

std::optional<Assembled> says_nothing(const AssemblyRequest& /*request*/) {
  return Assembled{};
}

TEST_F(Decisions, NothingIsAskedForWhatIsRemembered) {
  Remembering assembler(says_nothing);
  assembler.memory = kept(none_gains, text_);
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
  ASSERT_TRUE(taken(all(chosen)));
  passes::FunctionEdits change{0, job_->finish().edits, {}};
  const std::string text = passes::apply(module_, std::span(&change, 1)).text;
  Remembering assembler(says_nothing);
  assembler.memory = kept(chosen, text);
  EXPECT_EQ(run(text_, "jacobi.ptx", options_, true, &assembler).text, text);
  ASSERT_EQ(assembler.asked.size(), 1U);
  EXPECT_EQ(assembler.asked[0].text, text);
  assembler.asked.clear();
  assembler.memory = all(chosen);
  run(text_, "jacobi.ptx", options_, true, &assembler);
  EXPECT_EQ(assembler.asked.at(0).text, text_) << "all is decided anew";
}

// As long as nobody reads a report; and what anybody could have written is not taken for it.
TEST_F(Decisions, TheTextThatWasMadeIsTakenAsItIs) {
  const std::string chosen = way(1);
  ASSERT_TRUE(taken(all(chosen)));
  passes::FunctionEdits change{0, job_->finish().edits, {}};
  const std::string text = passes::apply(module_, std::span(&change, 1)).text;
  RememberingAll assembler(says_nothing);
  assembler.memory[text_] = kept(chosen, text);
  options_.details = false;
  const auto run_again = [&] {
    assembler.asked.clear();
    return run(text_, "jacobi.ptx", options_, true, &assembler);
  };
  EXPECT_EQ(run_again().report.kernels.size(), 1U);
  ASSERT_EQ(assembler.memory.size(), 2U);
  const Optimized known = run_again();
  EXPECT_EQ(known.text, text);
  EXPECT_TRUE(known.changed);
  EXPECT_EQ(known.report.file, "jacobi.ptx");
  EXPECT_TRUE(known.report.kernels.empty()) << "nothing was looked at";
  ASSERT_EQ(assembler.asked.size(), 1U);
  EXPECT_EQ(assembler.asked[0].text, text);
  for (auto& [key, value] : assembler.memory)
    if (key != text_) value = text_; // another one
  options_.details = true;
  EXPECT_TRUE(run_again().text == text) << "it is made again";
  options_.details = false;
  assembler.trusted = false;
  EXPECT_EQ(run_again().report.kernels.size(), 1U);
}

// What anybody could have written is a proposal: the text is kept if it is judged to be right.
TEST_F(Decisions, OfOthersAreJudged) {
  const std::string chosen = way(1);
  ASSERT_TRUE(taken(all(chosen)));
  passes::FunctionEdits change{0, job_->finish().edits, {}};
  const std::string text = passes::apply(module_, std::span(&change, 1)).text;
  Remembering assembler(says_nothing); // of how many registers it takes, too
  assembler.memory = kept(chosen, text);
  assembler.trusted = false;
  EXPECT_EQ(run(text_, "jacobi.ptx", options_, true, &assembler).text, text_);
  EXPECT_GT(assembler.asked.size(), 1U);
}

TEST_F(Decisions, AreRememberedOnlyIfAllQuestionsWereAnswered) {
  Remembering answers(says_nothing);
  run(text_, "jacobi.ptx", options_, true, &answers);
  EXPECT_EQ(answers.memory, kept(none_gains, text_));
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
