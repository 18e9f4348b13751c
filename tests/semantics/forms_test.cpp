// The table of forms itself: the real assembler takes every form, and every form has a Step.
#include "semantics/concrete.hpp"
#include "semantics/harness.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace ptxasw {
namespace {

TEST(Forms, ExpandAndInstantiate) {
  EXPECT_EQ(forms::expand("a[x|y].b[|.c] r"),
            (std::vector<std::string>{"ax.b r", "ax.b.c r", "ay.b r", "ay.b.c r"}));
  const auto one = forms::instantiate("setp.lt.and.s32 p|p, r, 0x1f, !p; mov.b64 {r, r}, d");
  EXPECT_EQ(one.text, "setp.lt.and.s32 %o0|%o1, %i0, 0x1f, !%i1; mov.b64 {%o2, %o3}, %i2; ");
  EXPECT_EQ(one.results, "pprr");
  EXPECT_EQ(one.sources, "rpd");
}

TEST(Forms, EachHasAStep) {
  sem::ConcreteDomain domain;
  for (const forms::Pattern& pattern : forms::patterns)
    for (const std::string& form : forms::expand(pattern.text)) {
      const harness::Program program(form);
      ASSERT_TRUE(program.body.usable) << form;
      const std::vector<sem::Bits> zeros(program.instance.sources.size());
      EXPECT_EQ(program.run(domain, zeros).size(), program.instance.results.size()) << form;
    }
}

TEST(Forms, PtxasTakesThem) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "ptxas is not installed";
  for (const unsigned sm : {90U, 100U}) {
    std::string text = harness::header(sm);
    unsigned count = 0;
    for (const forms::Pattern& pattern : forms::patterns) {
      if ((sm == 100) != (pattern.sm == 100)) continue;
      for (const std::string& form : forms::expand(pattern.text))
        text += harness::kernel_text(forms::instantiate(form), fmt::format("k{}", count++));
    }
    const std::string file = fmt::format("{}forms{}.ptx", testing::TempDir(), sm);
    std::ofstream(file) << text;
    const std::string command = fmt::format("ptxas -arch=sm_{} -o /dev/null {}", sm, file);
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_GT(count, 30U);
  }
}

} // namespace
} // namespace ptxasw
