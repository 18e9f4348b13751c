// Recording a launch: which thread made which access, and launches that cannot be recorded.
#include "cachesim/record.hpp"

#include "ptx/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ptxasw;
using testing::HasSubstr;

namespace {

// Thread t of block b loads word 8b + t of p, and stores to it unless t is 0.
constexpr std::string_view text = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<4>;
.reg .b32 %r<8>;
.reg .pred %p1;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.y;
mov.u32 %r2, %tid.y;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r2, 4, %r3;
mad.lo.u32 %r5, %r1, 8, %r4;
mul.wide.u32 %rd2, %r5, 4;
add.u64 %rd3, %rd1, %rd2;
ld.global.u32 %r6, [%rd3];
setp.ne.u32 %p1, %r4, 0;
@%p1 st.global.u32 [%rd3], %r6;
ret;
}
)";

struct Case {
  simt::ProgramPtr program;
  simt::Memory memory;
  simt::Launch launch;
};
Case make(std::uint64_t bytes) {
  const auto module = std::make_shared<const ptx::Module>(ptx::parse(std::string(text), "k.ptx"));
  Case result{*simt::compile(module, "k"), {}, {}};
  const std::uint64_t base = result.memory.allocate("p", std::vector<std::uint8_t>(bytes, 0));
  result.launch = {.grid = {1, 2}, .block = {4, 2}, .arguments = {simt::value(base)}};
  return result;
}

} // namespace

TEST(Record, GivesEachThreadItsAccesses) {
  Case k = make(64);
  const std::uint64_t base = k.memory.allocations().front().base;
  const auto recorded = cachesim::record(*k.program, k.launch, k.memory);
  ASSERT_TRUE(recorded) << recorded.error();
  ASSERT_EQ(recorded->stream.size(), 16U);
  for (std::uint64_t thread = 0; thread < 16; ++thread) {
    std::vector<cachesim::Touch> expected{{base + 4 * thread, 4, false}};
    if (thread % 8 != 0) expected.push_back({base + 4 * thread, 4, true});
    EXPECT_EQ(recorded->stream[thread], expected) << thread;
  }
  EXPECT_EQ(recorded->threads.count(), 16U);
}

TEST(Record, SaysWhyThereIsNothingToGive) {
  Case k = make(60);
  EXPECT_THAT(cachesim::record(*k.program, k.launch, k.memory).error(), HasSubstr("k.ptx:17"));
  k = make(64);
  EXPECT_THAT(cachesim::record(*k.program, k.launch, k.memory, 29).error(),
              HasSubstr("more than 29 accesses"));
  EXPECT_TRUE(cachesim::record(*k.program, k.launch, k.memory, 30));
  EXPECT_THAT(cachesim::record(*k.program, k.launch, k.memory, 15).error(),
              HasSubstr("more than 15 threads"));
}
