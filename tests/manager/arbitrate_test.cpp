// First come, first served, and nobody is asked in vain.
#include "manager/arbitrate.hpp"

#include <gmock/gmock.h>

namespace ptxasw::manager {
namespace {

struct Log {
  std::vector<std::string> words;
  Proposal proposal(std::string name, unsigned needs, unsigned touched, std::size_t edits = 1) {
    return {.needs = needs,
            .make =
                [this, name, touched, edits] {
                  words.push_back("make " + name);
                  return Made{std::vector<ptx::Edit>(edits), touched, name + " has it"};
                },
            .refuse =
                [this, name](const std::string& claim) {
                  words.push_back("refuse " + name + ": " + claim);
                }};
  }
};

TEST(Arbitrate, TheFirstTakesWhatItTouches) {
  Log log;
  const std::vector<Proposal> proposals{log.proposal("a", touches_loads, touches_loads),
                                        log.proposal("b", touches_loads, touches_loads),
                                        log.proposal("c", touches_blocks, touches_blocks)};
  EXPECT_EQ(arbitrate(proposals).size(), 2U);
  EXPECT_THAT(log.words, testing::ElementsAre("make a", "refuse b: a has it", "make c"));
}

TEST(Arbitrate, WhatComesToNothingTakesNothing) {
  Log log;
  const std::vector<Proposal> proposals{log.proposal("a", touches_loads, touches_loads, 0),
                                        log.proposal("b", touches_loads, touches_loads)};
  EXPECT_EQ(arbitrate(proposals).size(), 1U);
  EXPECT_THAT(log.words, testing::ElementsAre("make a", "make b"));
}

TEST(Arbitrate, WhatWasTouchedCountsNotWhatWasNeeded) {
  Log log;
  const std::vector<Proposal> proposals{
      log.proposal("a", touches_blocks, touches_blocks | touches_loads),
      log.proposal("b", touches_loads, touches_loads)};
  EXPECT_EQ(arbitrate(proposals).size(), 1U);
  EXPECT_THAT(log.words, testing::ElementsAre("make a", "refuse b: a has it"));
}

} // namespace
} // namespace ptxasw::manager
