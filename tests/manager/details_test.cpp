// Whether anybody reads what is said of each access changes nothing in what is done.
#include "manager/optimize.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace ptxasw::manager {
namespace {

class Details : public testing::TestWithParam<const char*> {};

TEST_P(Details, ChangeNoByte) {
  std::ifstream in(std::string(PTXASW_SOURCE_DIR "/tests/golden/ptx/") + GetParam(),
                   std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Options told, untold;
  untold.details = false;
  const Optimized a = run(text, GetParam(), told, true, nullptr),
                  b = run(text, GetParam(), untold, true, nullptr);
  EXPECT_EQ(a.changed, b.changed);
  EXPECT_EQ(a.text, b.text);
  ASSERT_EQ(a.report.kernels.size(), b.report.kernels.size());
  EXPECT_FALSE(a.report.kernels[0].accesses.empty());
  EXPECT_TRUE(b.report.kernels[0].accesses.empty());
}

INSTANTIATE_TEST_SUITE_P(Golden, Details,
                         testing::Values("transposed.ptx", "heat_t.ptx", "jacobi.ptx",
                                         "tricubic.ptx", "matmul.ptx", "iterated2d.ptx"),
                         [](const auto& of) {
                           const std::string file = of.param;
                           return file.substr(0, file.find('.'));
                         });

} // namespace
} // namespace ptxasw::manager
