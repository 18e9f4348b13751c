// A prologue finds the place that the thread had in the original launch; the body reads it from
// there.
#include "passes/remap/reshape.hpp"

#include "contract/reshape.hpp"
#include "passes/shared/names.hpp"
#include "passes/shared/parameters.hpp"
#include "passes/shared/stand_in.hpp"
#include "passes/shared/text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace ptxasw::passes {

namespace {

using contract::OriginalShape;

constexpr std::string_view parameter = "ptxasw_original_shape";

class Reshaper {
public:
  Reshaper(const emulator::Kernel& kernel, const passes::ReshapePlan& plan)
      : body_(kernel.body), module_(*kernel.body.module), plan_(plan),
        registers_(module_, "%ptxasw_shape") {}

  std::vector<ptx::Edit> run() {
    text_.line("// ptxasw: where this thread is in the launch that was asked for");
    for (unsigned axis = 0; axis < 3; ++axis)
      if (plan_.axes[axis]) find_place(axis);
    for (unsigned axis = 0; axis < 3; ++axis)
      find_sizes(axis);
    const ptx::Range brace = module_.body_of(*body_.function).front().range;
    edits_.push_back(
        {{brace.end, brace.end}, fmt::format("\n{}{}\n", registers_.declarations(), text_.all)});
    edits_.push_back(append_parameter(
        module_, *body_.function,
        fmt::format(".param .align 4 .b8 {}[{}]", parameter, sizeof(OriginalShape))));
    stand_in(body_, instead_, edits_);
    return std::move(edits_);
  }

private:
  // Thread i along the axis: of which block, and which one of it. Threads beyond the last one
  // leave.
  void find_place(unsigned axis) {
    const std::string block = special("ctaid", axis), size = special("ntid", axis),
                      thread = special("tid", axis);
    const std::string i = registers_.make("b32"), leaves = registers_.make("pred");
    text_.line("mad.lo.u32 \t{}, {}, {}, {};", i, block, size, thread);
    text_.line("setp.ge.u32 \t{}, {}, {};", leaves, i,
               given(offsetof(OriginalShape, threads), axis));
    text_.line("@{} ret;", leaves);
    const std::string twice = registers_.make("b32"), high = registers_.make("b32"),
                      of = registers_.make("b32"), before = registers_.make("b32"),
                      in = registers_.make("b32");
    text_.line("shl.b32 \t{}, {}, 1;", twice, i);
    text_.line("mul.hi.u32 \t{}, {}, {};", high, twice,
               given(offsetof(OriginalShape, multiplier), axis));
    text_.line("shr.u32 \t{}, {}, {};", of, high, given(offsetof(OriginalShape, shift), axis));
    text_.line("mul.lo.u32 \t{}, {}, {};", before, of, given(offsetof(OriginalShape, block), axis));
    text_.line("sub.u32 \t{}, {}, {};", in, i, before);
    instead_[name("ctaid", axis)] = of;
    instead_[name("tid", axis)] = in;
  }

  // Of an axis along which there is one thread the sizes are still what they are: one.
  void find_sizes(unsigned axis) {
    const ptx::Special sizes = ptx::along(ptx::Special::ntid_x, axis),
                       counts = ptx::along(ptx::Special::nctaid_x, axis);
    if (ptx::reads_special(body_, sizes))
      instead_[name("ntid", axis)] = given(offsetof(OriginalShape, block), axis);
    if (ptx::reads_special(body_, counts))
      instead_[name("nctaid", axis)] = given(offsetof(OriginalShape, blocks), axis);
  }

  static std::string name(std::string_view vector, unsigned axis) {
    return fmt::format("%{}.{}", vector, "xyz"[axis]);
  }

  std::string special(std::string_view vector, unsigned axis) {
    std::string reg = registers_.make("b32");
    text_.line("mov.u32 \t{}, {};", reg, name(vector, axis));
    return reg;
  }

  std::string given(std::size_t offset, unsigned axis) {
    std::string reg = registers_.make("b32");
    text_.line("ld.param.u32 \t{}, [{}+{}];", reg, parameter, offset + 4 * axis);
    return reg;
  }

  const ptx::Body& body_;
  const ptx::Module& module_;
  const passes::ReshapePlan& plan_;
  Registers registers_;
  Text text_;
  StandIns instead_;
  std::vector<ptx::Edit> edits_;
};

} // namespace

std::vector<ptx::Edit> reshape(const emulator::Kernel& kernel, const passes::ReshapePlan& plan) {
  if (!plan.refused.empty()) return {};
  if (kernel.body.module->text->find(parameter) != std::string::npos) return {};
  return Reshaper(kernel, plan).run();
}

} // namespace ptxasw::passes
