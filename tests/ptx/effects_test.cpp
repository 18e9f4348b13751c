// What instructions may do, one line each.
#include "bodies.hpp"

#include <gtest/gtest.h>

namespace {

using namespace ptxasw::ptx;
using ptxasw::test::Kernel;

std::string show(const Effects& e) {
  std::string result;
  const auto add = [&](bool on, const std::string& word) {
    if (on) result += fmt::format("{}{}", result.empty() ? "" : " ", word);
  };
  add(e.reads_memory, "reads");
  add(e.writes_memory, "writes");
  add(e.reads_memory || e.writes_memory, fmt::format("{}:{}", name(e.space), e.bytes));
  add(e.ordered, "ordered");
  add(e.waits, "waits");
  add(e.convergent, "convergent");
  add(e.terminates, "terminates");
  add(e.branches, "branches");
  add(e.calls, "calls");
  add(e.unknown, "unknown");
  return result;
}

struct EffectsCase {
  std::string line, effects;
  friend void PrintTo(const EffectsCase& c, std::ostream* out) { *out << c.line; }
};
class InstructionEffects : public testing::TestWithParam<EffectsCase> {};

TEST_P(InstructionEffects, AreThese) {
  const Kernel kernel(GetParam().line, ".shared .b64 s[4]; .func f();");
  EXPECT_EQ(show(effects(kernel.body, kernel.body.insts.at(0))), GetParam().effects);
}

const std::string anything = "reads writes generic:0 ordered waits convergent";

INSTANTIATE_TEST_SUITE_P(Plain, InstructionEffects,
                         testing::Values(EffectsCase{"add.s32 %r1, %r2, %r3;", ""},
                                         EffectsCase{"mov.u32 %r1, %clock;", ""},
                                         EffectsCase{"cvta.to.global.u64 %d1, %d2;", ""},
                                         EffectsCase{"prefetch.global.L2 [%d1];", ""},
                                         EffectsCase{"nanosleep.u32 10;", ""},
                                         EffectsCase{"bra L; L:", "branches"},
                                         EffectsCase{"ret;", "terminates"},
                                         EffectsCase{"exit;", "terminates"},
                                         EffectsCase{"trap;", "terminates"},
                                         EffectsCase{"call f;", anything + " calls unknown"},
                                         EffectsCase{"bogus %r1;", anything + " unknown"}));

INSTANTIATE_TEST_SUITE_P(
    Memory, InstructionEffects,
    testing::Values(
        EffectsCase{"ld.global.f32 %f1, [%d1];", "reads global:4"},
        EffectsCase{"ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%d1];", "reads global:16"},
        EffectsCase{"ld.param.u64 %d1, [a];", "reads param:8"},
        EffectsCase{"ld.u8 %h1, [%d1];", "reads generic:1"},
        EffectsCase{"ld.volatile.global.u32 %r1, [%d1];", "reads global:4 ordered"},
        EffectsCase{"ld.relaxed.gpu.global.u32 %r1, [%d1];", "reads global:4 ordered"},
        EffectsCase{"ld.acquire.sys.u32 %r1, [%d1];", "reads generic:4 ordered"},
        EffectsCase{"ld.weak.global.u32 %r1, [%d1];", "reads global:4"},
        EffectsCase{"ld.global.cg.u32 %r1, [%d1];", "reads global:4"},
        EffectsCase{"ld.global.cv.u32 %r1, [%d1];", "reads global:4 ordered"},
        EffectsCase{"ldu.global.u32 %r1, [%d1];", "reads global:4"},
        EffectsCase{"st.shared.v2.b64 [s], {%d1,%d2};", "writes shared:16"},
        EffectsCase{"st.release.gpu.global.u32 [%d1], %r1;", "writes global:4 ordered"},
        EffectsCase{"st.global.wt.u32 [%d1], %r1;", "writes global:4 ordered"},
        EffectsCase{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
                    "writes shared:0 ordered"},
        EffectsCase{"discard.global.L2 [%d1], 128;", "writes global:128"},
        EffectsCase{"atom.global.add.u32 %r1, [%d1], 1;", "reads writes global:4 ordered"},
        EffectsCase{"red.shared.add.u64 [s], %d1;", "reads writes shared:8 ordered"},
        EffectsCase{"multimem.red.relaxed.gpu.global.add.u32 [%d1], %r1;",
                    "reads writes global:4 ordered"},
        EffectsCase{"cp.async.ca.shared.global [s], [%d1], 8;", "reads writes generic:0 ordered"},
        EffectsCase{"cp.async.wait_all;", "reads writes generic:0 ordered waits"},
        EffectsCase{"cp.async.bulk.wait_group.read 0;", "reads writes generic:0 ordered waits"},
        EffectsCase{"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1}];", "reads tex:0"},
        EffectsCase{"suld.b.1d.b32.trap %r1, [%d1, {%r2}];", "reads global:0"},
        EffectsCase{"sust.b.1d.b32.trap [%d1, {%r2}], %r1;", "writes global:0"},
        EffectsCase{"sured.b.add.1d.u32.trap [%d1, {%r2}], %r1;", "reads writes global:0 ordered"},
        EffectsCase{"txq.width.b32 %r1, [%d1];", ""}, EffectsCase{"suq.width.b32 %r1, [%d1];", ""},
        EffectsCase{"stackrestore.u64 %d1;", "writes local:0"}));

INSTANTIATE_TEST_SUITE_P(
    Threads, InstructionEffects,
    testing::Values(
        EffectsCase{"shfl.sync.up.b32 %r1, %r2, 1, 0, -1;", "convergent"},
        EffectsCase{"vote.sync.any.pred %p1, %p2, -1;", "convergent"},
        EffectsCase{"activemask.b32 %r1;", "convergent"},
        EffectsCase{"bar.sync 0;", "ordered waits convergent"},
        EffectsCase{"bar.arrive 0, 32;", "ordered convergent"},
        EffectsCase{"bar.warp.sync -1;", "ordered waits convergent"},
        EffectsCase{"barrier.cluster.arrive;", "ordered convergent"},
        EffectsCase{"barrier.cluster.wait;", "ordered waits convergent"},
        EffectsCase{"membar.gl;", "ordered"}, EffectsCase{"fence.acq_rel.gpu;", "ordered"},
        EffectsCase{"fence.proxy.async;", "ordered"},
        EffectsCase{"griddepcontrol.wait;", "ordered waits"},
        EffectsCase{"griddepcontrol.launch_dependents;", "ordered"},
        EffectsCase{"mbarrier.init.shared.b64 [s], 1;", "reads writes shared:0 ordered"},
        EffectsCase{"mbarrier.try_wait.shared.b64 %p1, [s], %d1;",
                    "reads writes shared:0 ordered waits"},
        EffectsCase{"mbarrier.pending_count.b64 %r1, %d1;", ""},
        EffectsCase{
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g1,%g2}, {%g3}, {%g4}, {%g5,%g6};",
            "convergent"},
        EffectsCase{"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [s];",
                    "reads shared:0 convergent"},
        EffectsCase{"stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r1};",
                    "writes shared:0 convergent"},
        EffectsCase{"wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%d1], {%g1,%g2};",
                    "writes global:0 convergent"},
        EffectsCase{"wgmma.fence.sync.aligned;", anything},
        EffectsCase{"tcgen05.wait::ld.sync.aligned;", anything},
        EffectsCase{"setmaxnreg.inc.sync.aligned.u32 64;", "ordered waits convergent"}));

} // namespace
