// The symbolic domain: a value is a term, and an instruction's meaning builds terms.
//
// A function of constants is computed at once. The window bases of the generic address space are
// the exception: they are the hardware's, known here by name only.
#pragma once

#include "semantics/domain.hpp"
#include "symbolic/term.hpp"

#include <array>

namespace ptxasw::emulator {

class SymbolicDomain {
public:
  using Value = sym::Term;
  using Bits = sem::Bits;

  explicit SymbolicDomain(sym::Context& context) : c_(&context) {}

  Value constant(unsigned w, Bits v) { return c_->constant(w, v); }
  Value add(unsigned, Value a, Value b) { return c_->add(a, b); }
  Value sub(unsigned, Value a, Value b) { return c_->sub(a, b); }
  Value mul(unsigned, Value a, Value b) { return c_->mul(a, b); }
  Value neg(unsigned, Value a) { return c_->neg(a); }
  Value not_(unsigned, Value a) { return c_->not_(a); }
  Value and_(unsigned, Value a, Value b) { return c_->and_(a, b); }
  Value or_(unsigned, Value a, Value b) { return c_->or_(a, b); }
  Value xor_(unsigned, Value a, Value b) { return c_->xor_(a, b); }
  Value shl(unsigned, Value a, Value n) { return c_->shl(a, n); }
  Value lshr(unsigned, Value a, Value n) { return c_->lshr(a, n); }
  Value ashr(unsigned, Value a, Value n) { return c_->ashr(a, n); }
  Value udiv(unsigned, Value a, Value b) { return c_->udiv(a, b); }
  Value urem(unsigned, Value a, Value b) { return c_->urem(a, b); }
  Value sdiv(unsigned, Value a, Value b) { return c_->sdiv(a, b); }
  Value srem(unsigned, Value a, Value b) { return c_->srem(a, b); }
  Value eq(unsigned, Value a, Value b) { return c_->eq(a, b); }
  Value ult(unsigned, Value a, Value b) { return c_->ult(a, b); }
  Value slt(unsigned, Value a, Value b) { return c_->slt(a, b); }
  Value ite(unsigned, Value c, Value a, Value b) { return c_->ite(c, a, b); }
  Value extract(unsigned, Value v, unsigned low, unsigned w) { return c_->extract(v, low, w); }
  Value concat(unsigned, Value high, unsigned, Value low) { return c_->concat(high, low); }
  Value zext(unsigned, Value v, unsigned to) { return c_->zext(v, to); }
  Value sext(unsigned, Value v, unsigned to) { return c_->sext(v, to); }

  Value apply(const sem::Function& f, unsigned w, std::span<const Value> args) {
    std::array<Bits, 4> known{};
    std::size_t count = 0;
    for (const Value arg : args) {
      const auto value = c_->value(arg);
      if (!value || count == known.size()) break;
      known[count++] = *value;
    }
    if (!args.empty() && count == args.size() && f.fn != sem::Fn::in_window)
      return c_->constant(w, sem::compute(f, w, std::span(known).first(count)));
    return c_->apply(f.key(), f.name(), w, args);
  }

private:
  sym::Context* c_;
};

static_assert(sem::Domain<SymbolicDomain>);

} // namespace ptxasw::emulator
