// Sums of products, one after the other. Each register is written once: guards are made of them.
#include "passes/time_tile/polynomial/polynomial_code.hpp"

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

Reg PolynomialCode::number(const IntegerPolynomial& whole) {
  Reg sum;
  for (const auto& [product, coefficient] : whole.terms()) {
    Reg made = code_.mov(b64, static_cast<std::int64_t>(coefficient));
    for (const Quantity& factor : product) {
      const Reg value = factor.is_axis ? coordinate_(factor.number) : parameter(factor);
      made = code_.mul(s64, made, value);
    }
    sum = sum.empty() ? made : code_.add(s64, sum, made);
  }
  return sum.empty() ? code_.mov(b64, 0) : sum;
}

Reg PolynomialCode::begin_of(unsigned part) {
  return code_.cvta_to(ptx::Space::global, u64, parameter({.number = part}));
}

Reg PolynomialCode::parameter(const Quantity& quantity) {
  using Type = contract::Token::Type;
  if (quantity.of == Quantity::Of::threads)
    return code_.cvt(u64, u32,
                     code_.ld(ptx::Space::param, u32,
                              ptx::Memory(std::string_view(extents_.parameter),
                                          extents_.first + 4 * quantity.number)));
  const ptx::Memory at(names_.name(contract::number_of(quantity.number)),
                       contract::byte_of(quantity.number));
  if (quantity.as != Type::s32 && quantity.as != Type::u32)
    return code_.ld(ptx::Space::param, u64, at);
  const Reg low = code_.ld(ptx::Space::param, b32, at);
  return quantity.as == Type::s32 ? code_.cvt(s64, s32, low) : code_.cvt(u64, u32, low);
}

} // namespace ptxasw::passes
