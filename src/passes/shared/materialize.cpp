// Sums of products as they stand; ptxas simplifies.
#include "passes/shared/materialize.hpp"

#include <cstdint>

namespace ptxasw::passes {

using ptx::Reg;
using sym::Kind;
using sym::Term;
using namespace ptx::words;

namespace {

class Materializer {
public:
  Materializer(const emulator::Kernel& kernel, ptx::Code& code)
      : k_(kernel), c_(*kernel.context), code_(code) {}

  Reg value(Term t) {
    switch (c_.kind(t)) {
    case Kind::poly: return sum(t);
    case Kind::extract: return code_.cvt(u32, u64, value(c_.args(t)[0]));
    case Kind::zext: return code_.cvt(u64, u32, value(c_.args(t)[0]));
    case Kind::sext: return code_.cvt(s64, s32, value(c_.args(t)[0]));
    default: break;
    }
    const auto constant = c_.value(t);
    return constant ? number(c_.width(t), *constant) : read_leaf(k_, t, code_);
  }

private:
  template <class Number> Reg number(unsigned width, Number n) {
    return code_.mov(ptx::unsigned_integer(width), static_cast<std::uint64_t>(n));
  }

  Reg sum(Term t) {
    const unsigned width = c_.width(t);
    const sym::Poly poly = c_.poly(t);
    const Reg total = number(width, poly.constant);
    for (const sym::Monomial& monomial : poly.terms) {
      const Reg product = number(width, monomial.coefficient);
      for (const Term factor : monomial.factors)
        code_.into(product).mul(ptx::unsigned_integer(width), product, value(factor));
      code_.into(total).add(ptx::unsigned_integer(width), total, product);
    }
    return total;
  }

  const emulator::Kernel& k_;
  const sym::Context& c_;
  ptx::Code& code_;
};

} // namespace

Reg materialize(const emulator::Kernel& kernel, Term t, ptx::Code& code) {
  return Materializer(kernel, code).value(t);
}

Reg read_leaf(const emulator::Kernel& kernel, Term leaf, ptx::Code& code) {
  const sym::Atom& atom = kernel.context->atom_info(leaf);
  if (atom.kind == static_cast<std::uint32_t>(emulator::AtomKind::special))
    return code.special(static_cast<ptx::Special>(atom.tag));
  for (const ptx::Symbol& s : kernel.body.symbols)
    if (s.kind == ptx::Symbol::Kind::parameter && atom.tag >= s.offset &&
        atom.tag < s.offset + s.size)
      return code.ld(ptx::Space::param, ptx::unsigned_integer(atom.width),
                     {s.name, static_cast<std::int64_t>(atom.tag - s.offset)});
  throw std::logic_error("a leaf that is neither a parameter nor a special register");
}

} // namespace ptxasw::passes
