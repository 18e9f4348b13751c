// Runs a few lines of PTX as a kernel over one buffer.
#pragma once

#include "ptx/parse.hpp"
#include "simt/machine.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::simt {

// A kernel k(.param .u64 out, .param .u32 n) that begins with
//   %rd1 = out (a global address), %r1 = the thread's number in the block, %r2 = n,
//   %rd2 = &out[%r1] (32-bit words)
inline std::string kernel_text(std::string_view body, std::string_view before = "") {
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
{}
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .pred %p<10>;
.reg .b16 %rs<20>;
.reg .b32 %r<40>;
.reg .f32 %f<20>;
.reg .f64 %fd<20>;
.reg .b64 %rd<20>;
.reg .b128 %q<4>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r2, [n];
cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r1, %tid.x;
mov.u32 %r3, %tid.y;
mov.u32 %r4, %ntid.x;
mad.lo.s32 %r1, %r3, %r4, %r1;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd2, %rd1, %rd2;
{}
}}
)",
                     before, body);
}

struct Ran {
  Result result;
  Memory memory;
  std::vector<std::uint32_t> words; // of `out`
};

struct Shape {
  Dim3 grid{1, 1, 1}, block{32, 1, 1};
  std::uint32_t n = 0;
  std::uint32_t words = 64; // of `out`; they begin as 0, 1, 2, ...
  std::uint32_t dynamic_shared = 0;
  Schedule schedule = {};
  std::uint64_t budget = 1000000;
  bool report_undefined = false;
  Observer observer = {};
};

inline Ran run_text(const std::string& text, const Shape& shape = {}) {
  Ran ran;
  ran.words.resize(shape.words);
  auto module = std::make_shared<const ptx::Module>(ptx::parse(text, "k.ptx"));
  const auto program = compile(module, "k");
  if (!program) {
    ran.result.status = Result::Status::unsupported;
    ran.result.message = program.error();
    return ran;
  }
  std::vector<std::uint8_t> data(4 * std::size_t{shape.words});
  for (std::uint32_t i = 0; i < shape.words; ++i)
    std::memcpy(&data[4 * std::size_t{i}], &i, 4);
  const std::uint64_t out = ran.memory.allocate("out", data);
  Launch launch;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.dynamic_shared = shape.dynamic_shared;
  launch.arguments = {value(out), value(std::uint64_t{shape.n})};
  launch.schedule = shape.schedule;
  launch.budget = shape.budget;
  launch.report_undefined = shape.report_undefined;
  launch.observer = shape.observer;
  ran.result = run(**program, launch, ran.memory);
  const Allocation* made = ran.memory.find("out");
  std::memcpy(ran.words.data(), made->data.data(), made->data.size());
  return ran;
}

inline Ran run_body(std::string_view body, const Shape& shape = {}, std::string_view before = "") {
  return run_text(kernel_text(body, before), shape);
}

inline const std::vector<Schedule>& some_schedules() {
  using Kind = Schedule::Kind;
  static const std::vector<Schedule> all{{Kind::lockstep, 0, 1},    {Kind::lockstep, 5, 2},
                                         {Kind::independent, 1, 1}, {Kind::independent, 2, 3},
                                         {Kind::independent, 3, 1}, {Kind::one_lane, 0, 1},
                                         {Kind::one_lane, 9, 2}};
  return all;
}

} // namespace ptxasw::simt
