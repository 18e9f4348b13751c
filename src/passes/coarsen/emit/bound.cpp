// NaN (0 times infinity) counts as too large.
#include "passes/coarsen/emit/bound.hpp"

#include "passes/shared/materialize.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace ptxasw::passes {

using ptx::Reg;
using sym::Term;
using namespace ptx::words;

namespace {

constexpr auto up = ptx::Rounding::rp;

class BoundCheck {
public:
  BoundCheck(const emulator::Kernel& kernel, const BlockPlan& plan, const CopyAxes& axes,
             ptx::Code& code)
      : k_(kernel), plan_(plan), axes_(axes), code_(code) {}

  // The register that holds the sum.
  Reg run() {
    const Reg sum = code_.mov(f32, ptx::Source::f32(0));
    for (const auto& [factors, coefficient] : plan_.bound.products) {
      Reg product;
      for (const Term factor : factors)
        product = product.empty() ? leaf(factor) : code_.mul(up, f32, product, leaf(factor));
      if (product.empty()) {
        code_.into(sum).add(up, f32, sum, at_least(coefficient));
      } else {
        code_.into(sum).fma(up, f32, product, at_least(coefficient), sum);
      }
    }
    return sum;
  }

private:
  static ptx::Source at_least(sym::SBits number) {
    auto value = static_cast<float>(number);
    constexpr float top = 9223372036854775808.0F; // beyond it the check fails in any case
    if (value < top && static_cast<sym::SBits>(value) < number)
      value = std::nextafter(value, std::numeric_limits<float>::infinity());
    return ptx::Source::f32(value);
  }

  const Reg& leaf(Term t) {
    Reg& number = leaves_[t];
    if (!number.empty()) return number;
    const sym::Atom& atom = k_.context->atom_info(t);
    const Reg value = read(t, atom);
    return number = code_.cvt(up, f32, ptx::unsigned_integer(atom.width), value);
  }

  Reg read(Term t, const sym::Atom& atom) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!t.valid() || t != plan_.rows[axis]) continue;
      const Reg row = code_.special(along(ptx::Special::ntid_x, axis));
      return code_.into(row).mad(u32, axes_.first(axis), row, axes_.place(axis));
    }
    if (atom.kind != static_cast<std::uint32_t>(emulator::AtomKind::special))
      return read_leaf(k_, t, code_);
    const auto special = static_cast<ptx::Special>(atom.tag);
    const auto moved = axes_.in_copy(special, 0);
    return moved ? code_.mov(u32, *moved) : code_.special(special);
  }

  const emulator::Kernel& k_;
  const BlockPlan& plan_;
  const CopyAxes& axes_;
  ptx::Code& code_;
  std::map<Term, Reg> leaves_;
};

} // namespace

void check_bound(const emulator::Kernel& kernel, const BlockPlan& plan, const CopyAxes& axes,
                 const FrameLabels& labels, ptx::Code& code) {
  if (plan.bound.empty()) return;
  constexpr float too_large = 2147483648.0F; // 2^31
  code.comment("ptxasw: no index wraps");
  const Reg sum = BoundCheck(kernel, plan, axes, code).run();
  code.when(code.setp(geu, f32, sum, ptx::Source::f32(too_large))).bra(labels.sequential);
}

} // namespace ptxasw::passes
