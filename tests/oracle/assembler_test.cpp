// What ptxas -v says, as it was recorded, and what must not be made of less.
#include "oracle/assembler.hpp"
#include "oracle/fake.hpp"
#include "oracle/messages.hpp"

#include <gmock/gmock.h>

namespace ptxasw::oracle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadUsage, OfKernels) {
  using Entry = std::pair<const std::string, std::optional<Usage>>;
  EXPECT_THAT(read_usage(test::ptxas_messages),
              ElementsAre(Entry{"_Z2k1Pfi", Usage{46, 0, 0, 0}},
                          Entry{"_Z2k3Pdi", Usage{64, 280, 568, 564}}));
  EXPECT_THAT(read_usage(""), IsEmpty());
  EXPECT_THAT(read_usage("Used registers\n bytes stack frame\nUsed 3 registers"), IsEmpty());
}

TEST(ReadUsage, WhatIsNotSaidIsNotKnown) {
  const std::string compiled = "ptxas info    : Compiling entry function 'k' for 'sm_90'\n";
  const std::string used = "ptxas info    : Used 46 registers\n";
  const std::string memory = "ptxas info    : Function properties for k\n    0 bytes stack frame\n";
  for (const std::string& part : {compiled, compiled + used, compiled + memory}) {
    const UsageTable table = read_usage(part);
    EXPECT_TRUE(table.contains("k"));
    EXPECT_FALSE(find(table, "k")) << part;
  }
  EXPECT_TRUE(find(read_usage(compiled + used + memory), "k"));
  EXPECT_FALSE(find({}, "k"));
}

TEST(FakeAssembler, KeepsWhatItWasAsked) {
  FakeAssembler fake([](const AssemblyRequest& request) {
    return Assembled{"cubin of " + request.text, ""};
  });
  EXPECT_EQ(fake.assemble({.text = "a", .entries = {"k"}, .line_info = true})->cubin, "cubin of a");
  ASSERT_EQ(fake.asked.size(), 1U);
  EXPECT_TRUE(fake.asked[0].line_info);
}

} // namespace
} // namespace ptxasw::oracle
