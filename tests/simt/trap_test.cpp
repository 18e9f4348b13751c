// Every trap kernel runs, and the comparison that holds rewrites to them can fail.
#include "simt/trap_case.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

namespace ptxasw::simt {
namespace {

std::uint32_t word(const Memory& memory, const char* name, int k) {
  std::uint32_t value = 0;
  const auto at = 4 * static_cast<std::size_t>(k - trap_detail::first_word);
  std::memcpy(&value, &memory.find(name)->data[at], 4);
  return value;
}

class Trap : public testing::TestWithParam<TrapCase> {};

TEST_P(Trap, RunsAndWritesItsResult) {
  const TrapRun ran = run_trap(GetParam(), GetParam().text, {});
  ASSERT_EQ(ran.result.message, "");
  EXPECT_TRUE(first_difference(memory_of(GetParam()), ran.memory)) << "nothing was written";
}

TEST_P(Trap, EqualsItselfUnderEverySchedule) {
  EXPECT_EQ(compare(GetParam(), GetParam().text), "");
}

INSTANTIATE_TEST_SUITE_P(All, Trap, testing::ValuesIn(all_traps()),
                         [](const auto& param) { return param.param.name; });

TEST(Traps, AreAllThere) {
  EXPECT_EQ(all_traps().size(), 51U);
}

TrapCase trap(const char* name) {
  return read_trap(std::filesystem::path(PTXASW_SOURCE_DIR "/tests/traps") /
                   (std::string(name) + ".ptx"));
}

TEST(Traps, ResultsByHand) {
  // h01: out[i] = in[i] + in[i+1], as floats of tiny subnormal numbers: bit patterns add up.
  const TrapRun ran = run_trap(trap("h01_block16x16"), trap("h01_block16x16").text, {});
  const int i = 3 * 40 + 5;
  EXPECT_EQ(word(ran.memory, "out", i), static_cast<std::uint32_t>(7 * i + 3 + 7 * (i + 1) + 3));
  // h12: the 32-bit index wraps at lane 16; [x+4] does not.
  const TrapRun wrap = run_trap(trap("h12_u32_index_wrap"), trap("h12_u32_index_wrap").text, {});
  EXPECT_EQ(word(wrap.memory, "out", 15), 9000U + 5000U);
  EXPECT_EQ(word(wrap.memory, "out", 14), 8999U + 8999U);
}

// What a careless rewrite makes of it is told from the original.
TEST(Traps, WrongRewritesAreSeen) {
  const auto changed = [](const TrapCase& of, std::string_view from, std::string_view to) {
    std::string text = of.text;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const TrapCase h01 = trap("h01_block16x16");
  EXPECT_NE(compare(h01, changed(h01, "ld.global.nc.f32 %f2, [%rd9+4];",
                                 "shfl.sync.down.b32 %f2, %f1, 1, 31, -1;")),
            "");
  const TrapCase h03 = trap("h03_inplace_barrier");
  EXPECT_NE(compare(h03, changed(h03, "ld.global.u32 %r4, [%rd6+4];",
                                 "shfl.sync.down.b32 %r4, %r2, 1, 31, -1;")),
            "");
}

} // namespace
} // namespace ptxasw::simt
