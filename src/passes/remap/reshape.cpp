// A prologue finds the place that the thread had in the original launch; the body reads it from
// there.
#include "passes/remap/reshape.hpp"

#include "contract/reshape.hpp"
#include "passes/shared/parameters.hpp"
#include "passes/shared/special_registers.hpp"
#include "ptx/whole_text.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ptxasw::passes {

namespace {

using contract::OriginalShape;
using ptx::Reg;
using ptx::Special;
using namespace ptx::words;

constexpr std::string_view parameter = "ptxasw_original_shape";

class Reshaper {
public:
  Reshaper(const emulator::Kernel& kernel, const ReshapePlan& plan)
      : body_(kernel.body), module_(*kernel.body.module), plan_(plan),
        registers_(module_, "%ptxasw_shape"), code_(registers_) {}

  std::vector<ptx::Edit> run() {
    code_.comment("ptxasw: where this thread is in the launch that was asked for");
    for (unsigned axis = 0; axis < 3; ++axis)
      if (plan_.axes[axis]) find_place(axis);
    for (unsigned axis = 0; axis < 3; ++axis)
      find_sizes(axis);
    const ptx::Range brace = ptx::brace_of(body_);
    edits_.push_back({{brace.end, brace.end},
                      fmt::format("\n{}{}\n", registers_.declarations(), code_.behind())});
    edits_.push_back(append_parameter(
        module_, *body_.function,
        fmt::format(".param .align 4 .b8 {}[{}]", parameter, sizeof(OriginalShape))));
    substitute_special(body_, instead_, edits_);
    return std::move(edits_);
  }

private:
  // Thread i along the axis: of which block, and which one of it. Threads beyond the last one
  // leave.
  void find_place(unsigned axis) {
    const Reg block = code_.special(along(Special::ctaid_x, axis)),
              size = code_.special(along(Special::ntid_x, axis)),
              thread = code_.special(along(Special::tid_x, axis));
    const Reg i = code_.mad(u32, block, size, thread);
    code_.when(code_.setp(ge, u32, i, given(offsetof(OriginalShape, threads), axis))).ret();
    const Reg twice = code_.shl(b32, i, 1);
    const Reg high = code_.mul_hi(u32, twice, given(offsetof(OriginalShape, multiplier), axis));
    const Reg of = code_.shr(u32, high, given(offsetof(OriginalShape, shift), axis));
    const Reg before = code_.mul(u32, of, given(offsetof(OriginalShape, block), axis));
    instead_[along(Special::ctaid_x, axis)] = of;
    instead_[along(Special::tid_x, axis)] = code_.sub(u32, i, before);
  }

  // Of an axis along which there is one thread the sizes are still what they are: one.
  void find_sizes(unsigned axis) {
    const Special sizes = along(Special::ntid_x, axis), counts = along(Special::nctaid_x, axis);
    if (ptx::reads_special(body_, sizes))
      instead_[sizes] = given(offsetof(OriginalShape, block), axis);
    if (ptx::reads_special(body_, counts))
      instead_[counts] = given(offsetof(OriginalShape, blocks), axis);
  }

  Reg given(std::size_t offset, unsigned axis) {
    return code_.ld(ptx::Space::param, u32,
                    {parameter, static_cast<std::int64_t>(offset + std::size_t{4} * axis)});
  }

  const ptx::Body& body_;
  const ptx::Module& module_;
  const ReshapePlan& plan_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  StandIns instead_;
  std::vector<ptx::Edit> edits_;
};

} // namespace

std::vector<ptx::Edit> reshape(const emulator::Kernel& kernel, const ReshapePlan& plan) {
  if (!plan.refused.empty()) return {};
  if (ptx::stands_anywhere(*kernel.body.module, parameter)) return {};
  return Reshaper(kernel, plan).run();
}

} // namespace ptxasw::passes
