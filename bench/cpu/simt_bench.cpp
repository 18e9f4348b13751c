// How fast the interpreter runs: thread instructions per second of one core, by kind of instruction
// and by schedule. The aim is 50 million.
#include "ptx/parse.hpp"
#include "simt/machine.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

namespace {

namespace simt = ptxasw::simt;

constexpr std::string_view integers =
    "add.u32 %r5, %r5, %r6; xor.b32 %r7, %r5, %r6; mad.lo.u32 %r8, %r7, 3, %r5;"
    "shl.b32 %r9, %r8, 2; and.b32 %r10, %r9, 255; add.u32 %r5, %r5, %r10;";
constexpr std::string_view floats =
    "add.f32 %f3, %f1, %f2; mul.f32 %f4, %f3, %f2; fma.rn.f32 %f1, %f4, %f2, %f3;"
    "sub.f32 %f4, %f1, %f4; mul.f32 %f1, %f4, %f2;";
constexpr std::string_view loads =
    "ld.global.u32 %r5, [%rd2]; ld.global.u32 %r7, [%rd2+4]; ld.global.u32 %r8, [%rd2+8];"
    "add.u32 %r5, %r5, %r8;";

// The body a hundred times in each of 16 blocks of 256 threads.
std::string kernel(std::string_view body) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
.reg .pred %p<2>; .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd2, %rd1, %rd2;
mov.u32 %r6, 0; mov.u32 %r5, %r1;
cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F000000;
LOOP: {}
add.u32 %r6, %r6, 1;
setp.lt.u32 %p1, %r6, 100;
@%p1 bra LOOP;
st.global.u32 [%rd2], %r5;
ret;
}}
)",
                     body);
}

void run(benchmark::State& state, std::string_view body, simt::Schedule schedule) {
  const auto program = simt::compile(
      std::make_shared<const ptxasw::ptx::Module>(ptxasw::ptx::parse(kernel(body))), "k");
  if (!program) return state.SkipWithError(program.error().c_str());
  simt::Memory memory;
  const std::uint64_t out = memory.allocate("out", std::vector<std::uint8_t>(4096));
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const simt::Result result = simt::run(
        **program,
        {.grid = {16}, .block = {256}, .arguments = {simt::value(out)}, .schedule = schedule},
        memory);
    if (!result.ok()) return state.SkipWithError(result.message.c_str());
    instructions += result.counts.thread_instructions;
  }
  state.counters["instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

using Kind = simt::Schedule::Kind;
BENCHMARK_CAPTURE(run, simt_integers, integers, {});
BENCHMARK_CAPTURE(run, simt_floats, floats, {});
BENCHMARK_CAPTURE(run, simt_loads, loads, {});
BENCHMARK_CAPTURE(run, simt_integers_independent, integers, {Kind::independent, 1, 1});
BENCHMARK_CAPTURE(run, simt_integers_one_lane, integers, {Kind::one_lane, 1, 1});

} // namespace
