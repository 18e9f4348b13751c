// Sums of products as they stand; ptxas simplifies.
#include "passes/shared/materialize.hpp"

#include <cstdint>

namespace ptxasw::passes {

using sym::Kind;
using sym::Term;

namespace {

class Materializer {
public:
  Materializer(const emulator::Kernel& kernel, Registers& registers, Text& text)
      : k_(kernel), c_(*kernel.context), registers_(registers), text_(text) {}

  std::string value(Term t) {
    switch (c_.kind(t)) {
    case Kind::poly: return sum(t);
    case Kind::extract: return converted("u32", "u64", t);
    case Kind::zext: return converted("u64", "u32", t);
    case Kind::sext: return converted("s64", "s32", t);
    default: break;
    }
    const std::string into = make(t);
    if (const auto constant = c_.value(t))
      text_.line("mov.u{} \t{}, {};", c_.width(t), into, static_cast<std::uint64_t>(*constant));
    else
      read_leaf(k_, t, into, text_);
    return into;
  }

private:
  std::string make(Term t) { return registers_.make(fmt::format("b{}", c_.width(t))); }

  std::string converted(std::string_view to, std::string_view from, Term t) {
    const std::string source = value(c_.args(t)[0]), into = make(t);
    text_.line("cvt.{}.{} \t{}, {};", to, from, into, source);
    return into;
  }

  std::string sum(Term t) {
    const unsigned width = c_.width(t);
    const sym::Poly poly = c_.poly(t);
    const std::string total = make(t);
    text_.line("mov.u{} \t{}, {};", width, total, static_cast<std::uint64_t>(poly.constant));
    for (const sym::Monomial& monomial : poly.terms) {
      const std::string product = make(t);
      text_.line("mov.u{} \t{}, {};", width, product,
                 static_cast<std::uint64_t>(monomial.coefficient));
      for (const Term factor : monomial.factors)
        text_.line("mul.lo.u{0} \t{1}, {1}, {2};", width, product, value(factor));
      text_.line("add.u{0} \t{1}, {1}, {2};", width, total, product);
    }
    return total;
  }

  const emulator::Kernel& k_;
  const sym::Context& c_;
  Registers& registers_;
  Text& text_;
};

} // namespace

std::string materialize(const emulator::Kernel& kernel, Term t, Registers& registers, Text& text) {
  return Materializer(kernel, registers, text).value(t);
}

void read_leaf(const emulator::Kernel& kernel, Term leaf, const std::string& into, Text& text) {
  const sym::Atom& atom = kernel.context->atom_info(leaf);
  if (atom.kind == static_cast<std::uint32_t>(emulator::AtomKind::special)) {
    text.line("mov.u32 \t{}, {};", into, atom.name);
    return;
  }
  for (const ptx::Symbol& s : kernel.body.symbols) {
    if (s.kind != ptx::Symbol::Kind::parameter || atom.tag < s.offset ||
        atom.tag >= s.offset + s.size) {
      continue;
    }
    text.line("ld.param.u{} \t{}, [{}+{}];", atom.width, into, s.name, atom.tag - s.offset);
    return;
  }
}

} // namespace ptxasw::passes
