// NaN (0 times infinity) counts as too large.
#include "passes/coarsen/bound.hpp"

#include "passes/shared/materialize.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace ptxasw::passes {

using sym::Term;

namespace {

class BoundCheck {
public:
  BoundCheck(const emulator::Kernel& kernel, const passes::BlockPlan& plan, const CopyAxes& axes,
             Registers& registers, Text& text)
      : k_(kernel), plan_(plan), axes_(axes), registers_(registers), text_(text) {}

  // The register that holds the sum.
  std::string run() {
    std::string sum = registers_.make("f32");
    text_.line("mov.f32 \t{}, 0f00000000;", sum);
    for (const auto& [factors, coefficient] : plan_.bound.products) {
      std::string product;
      for (const Term factor : factors)
        product = product.empty() ? leaf(factor) : times(product, leaf(factor));
      if (product.empty()) {
        text_.line("add.rp.f32 \t{0}, {0}, {1};", sum, at_least(coefficient));
      } else {
        text_.line("fma.rp.f32 \t{0}, {1}, {2}, {0};", sum, product, at_least(coefficient));
      }
    }
    return sum;
  }

private:
  static std::string at_least(std::uint64_t number) {
    auto value = static_cast<float>(number);
    constexpr float top = 9223372036854775808.0F; // beyond it the check fails in any case
    if (value < top && static_cast<std::uint64_t>(value) < number)
      value = std::nextafter(value, std::numeric_limits<float>::infinity());
    return fmt::format("0f{:08X}", std::bit_cast<std::uint32_t>(value));
  }

  std::string times(const std::string& a, const std::string& b) {
    std::string product = registers_.make("f32");
    text_.line("mul.rp.f32 \t{}, {}, {};", product, a, b);
    return product;
  }

  const std::string& leaf(Term t) {
    std::string& number = leaves_[t];
    if (!number.empty()) return number;
    const sym::Atom& atom = k_.context->atom_info(t);
    const std::string value = registers_.make(fmt::format("b{}", atom.width));
    read(t, atom, value);
    number = registers_.make("f32");
    text_.line("cvt.rp.f32.u{} \t{}, {};", atom.width, number, value);
    return number;
  }

  void read(Term t, const sym::Atom& atom, const std::string& into) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!t.valid() || t != plan_.rows[axis]) continue;
      text_.line("mov.u32 \t{}, %ntid.{};", into, "xyz"[axis]);
      text_.line("mad.lo.u32 \t{0}, {1}, {0}, {2};", into, axes_.first(axis), axes_.place(axis));
      return;
    }
    if (atom.kind == static_cast<std::uint32_t>(emulator::AtomKind::special)) {
      text_.line("mov.u{} \t{}, {};", atom.width, into,
                 axes_.in_copy(atom.name, 0).value_or(atom.name));
      return;
    }
    read_leaf(k_, t, into, text_);
  }

  const emulator::Kernel& k_;
  const passes::BlockPlan& plan_;
  const CopyAxes& axes_;
  Registers& registers_;
  Text& text_;
  std::map<Term, std::string> leaves_;
};

} // namespace

void check_bound(const emulator::Kernel& kernel, const passes::BlockPlan& plan,
                 const CopyAxes& axes, const FrameLabels& labels, Registers& registers,
                 Text& text) {
  if (plan.bound.empty()) return;
  text.line("// ptxasw: no index wraps");
  const std::string sum = BoundCheck(kernel, plan, axes, registers, text).run();
  const std::string over = registers.make("pred");
  text.line("setp.geu.f32 \t{}, {}, 0f4F000000;", over, sum); // 2^31
  text.line("@{} bra \t{};", over, labels.sequential);
}

} // namespace ptxasw::passes
