// Expected values by hand: a form, its sources, its results.
#pragma once

#include "semantics/concrete.hpp"
#include "semantics/harness.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::harness {

struct Case {
  std::string form;
  std::vector<std::uint64_t> sources, results;
};

inline void expect(const std::vector<Case>& cases) {
  sem::ConcreteDomain domain;
  for (const Case& c : cases) {
    const Program program(c.form);
    const std::vector<Bits> sources(c.sources.begin(), c.sources.end());
    ASSERT_EQ(program.instance.sources.size(), sources.size()) << c.form;
    std::vector<std::uint64_t> got;
    for (const Bits b : program.run(domain, sources))
      got.push_back(static_cast<std::uint64_t>(b));
    EXPECT_EQ(got, c.results) << c.form << testing::PrintToString(c.sources);
  }
}

} // namespace ptxasw::harness
