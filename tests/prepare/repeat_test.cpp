// Which calls of ptxas are made again.
#include "prepare/repeat.hpp"

#include <gmock/gmock.h>

namespace ptxasw::prepare {
namespace {

using image::Reason;

tl::expected<std::vector<std::string>, Reason> options_of(std::string_view options,
                                                          std::string_view tool = "ptxas") {
  return repeated_options({.tool = tool, .release = "V1", .options = options}, "sm_90");
}

TEST(Repeat, OptionsAsTheyWereButForTheChip) {
  EXPECT_THAT(*options_of("-arch sm_90 -m 64 "), testing::ElementsAre("-m", "64"));
  EXPECT_THAT(*options_of("-maxrregcount 40 -lineinfo  -arch sm_90 -m 64 "),
              testing::ElementsAre("-maxrregcount", "40", "-lineinfo", "-m", "64"));
  EXPECT_THAT(*options_of("-O2 -v -arch=sm_90"), testing::ElementsAre("-O2"));
}

TEST(Repeat, WhatIsNotCertainIsNot) {
  EXPECT_EQ(options_of("-arch sm_80").error(), Reason::ptxas_options);
  EXPECT_EQ(options_of("-arch sm_90 -g").error(), Reason::debug_code);
  EXPECT_EQ(options_of("-arch sm_90 -O0").error(), Reason::debug_code);
  EXPECT_EQ(options_of("-arch sm_90 -c").error(), Reason::relocatable);
  EXPECT_EQ(options_of("-arch sm_90 --unheard-of").error(), Reason::ptxas_options);
  EXPECT_EQ(options_of("-arch sm_90 file.ptx").error(), Reason::ptxas_options);
  EXPECT_EQ(options_of("-arch sm_90 -e blur").error(), Reason::ptxas_options);
  EXPECT_EQ(options_of("-arch sm_90 -o x").error(), Reason::ptxas_options);
  EXPECT_EQ(options_of("-arch sm_90 --ptxasw-variants").error(), Reason::ptxas_options);
  EXPECT_EQ(options_of("-arch sm_90", "nvlink").error(), Reason::ptxas_options);
}

TEST(Repeat, ReleasesAreReadFromEither) {
  EXPECT_EQ(release_in("Cuda compilation tools, release 13.0, V13.0.88"), "13.0.88");
  EXPECT_EQ(release_in("ptxas: NVIDIA\nCuda compilation tools, release 12.8, V12.8.61\nBuild"),
            "12.8.61");
  EXPECT_EQ(release_in("nothing"), "");
}

} // namespace
} // namespace ptxasw::prepare
