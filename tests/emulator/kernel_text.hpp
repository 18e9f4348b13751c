// Small kernels for the tests: a body in the registers that every test uses.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

// .entry k(in, out, n, m): %rd1 = in, %rd2 = out, %r1 = n, %r2 = m, %r3 = %tid.x are set.
inline std::string kernel_text(std::string_view body, std::string_view directives = "") {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m) {}
{{
.reg .pred %p<20>;
.reg .b16 %rs<20>;
.reg .b32 %r<60>;
.reg .f32 %f<60>;
.reg .b64 %rd<60>;
.reg .f64 %fd<20>;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [m];
mov.u32 %r3, %tid.x;
{}
}}
)",
                     directives, body);
}

// A module and the emulation of one of its functions.
struct Emulated {
  std::unique_ptr<ptx::Module> module;
  emulator::Kernel kernel;

  explicit Emulated(std::string text, std::size_t function = 0)
      : module(std::make_unique<ptx::Module>(ptx::parse(std::move(text), "test.ptx"))),
        kernel(emulator::emulate(*module, module->functions.at(function))) {}

  // "load in + 4*sext(...)" for every access, "clobber bar" for the rest, in program order.
  [[nodiscard]] std::vector<std::string> events() const {
    std::vector<std::string> result;
    for (const emulator::Event& event : kernel.trace.events) {
      if (event.kind == emulator::EventKind::clobber) {
        result.push_back(fmt::format("clobber {}", ptx::name(kernel.body.insts[event.inst].op)));
        continue;
      }
      result.push_back(fmt::format("{} {}",
                                   event.kind == emulator::EventKind::load ? "load" : "store",
                                   kernel.context->to_string(event.address)));
    }
    return result;
  }
};

inline Emulated emulate_body(std::string_view body, std::string_view directives = "") {
  return Emulated(kernel_text(body, directives));
}

} // namespace ptxasw::test
