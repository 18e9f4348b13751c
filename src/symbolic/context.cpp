// The public face of Impl: one line per operation.
#include "symbolic/impl.hpp"

namespace ptxasw::sym {

Context::Context(std::size_t node_budget) : impl_(std::make_unique<Impl>(node_budget)) {}
Context::~Context() = default;

Term Context::constant(unsigned width, Bits value) {
  return impl_->constant(width, value);
}
Term Context::atom(Atom atom) {
  return impl_->atom(std::move(atom));
}

// An operator on one term, or on two.
#define PTXASW_UNARY(name)                                                                         \
  Term Context::name(Term a) {                                                                     \
    return impl_->name(a);                                                                         \
  }
#define PTXASW_BINARY(name)                                                                        \
  Term Context::name(Term a, Term b) {                                                             \
    return impl_->name(a, b);                                                                      \
  }

PTXASW_BINARY(add)
PTXASW_BINARY(sub)
PTXASW_BINARY(mul)
PTXASW_UNARY(neg)
PTXASW_UNARY(not_)
PTXASW_BINARY(and_)
PTXASW_BINARY(or_)
PTXASW_BINARY(xor_)
PTXASW_BINARY(shl)
PTXASW_BINARY(lshr)
PTXASW_BINARY(ashr)
PTXASW_BINARY(udiv)
PTXASW_BINARY(urem)
PTXASW_BINARY(sdiv)
PTXASW_BINARY(srem)
Term Context::extract(Term a, unsigned low, unsigned width) {
  return impl_->extract(a, low, width);
}
PTXASW_BINARY(concat)
Term Context::zext(Term a, unsigned width) {
  return impl_->zext(a, width);
}
Term Context::sext(Term a, unsigned width) {
  return impl_->sext(a, width);
}
PTXASW_BINARY(eq)
PTXASW_BINARY(ult)
PTXASW_BINARY(slt)
#undef PTXASW_UNARY
#undef PTXASW_BINARY

Term Context::ite(Term condition, Term then, Term otherwise) {
  return impl_->ite(condition, then, otherwise);
}
Term Context::apply(FunctionKey key, std::string_view name, unsigned width,
                    std::span<const Term> args) {
  return impl_->apply(key, name, width, args);
}

Kind Context::kind(Term t) const {
  return impl_->node(t).kind;
}
unsigned Context::width(Term t) const {
  return impl_->width(t);
}
std::optional<Bits> Context::value(Term t) const {
  const Bits* v = impl_->value(t);
  return v != nullptr ? std::optional(*v) : std::nullopt;
}
const Atom& Context::atom_info(Term t) const {
  assert(impl_->is(t, Kind::atom));
  return impl_->atoms[impl_->node(t).aux];
}
std::span<const Term> Context::args(Term t) const {
  return impl_->node(t).args();
}
unsigned Context::low(Term t) const {
  return kind(t) == Kind::extract ? impl_->node(t).aux : 0;
}
FunctionKey Context::function(Term t) const {
  assert(impl_->is(t, Kind::apply));
  return impl_->symbols[impl_->node(t).aux].key;
}
std::string_view Context::function_name(Term t) const {
  assert(impl_->is(t, Kind::apply));
  return impl_->symbols[impl_->node(t).aux].name;
}
std::optional<Term> Context::negated(Term t) const {
  return impl_->negated(t);
}

Poly Context::poly(Term t) const {
  return impl_->poly(t);
}
Term Context::from_poly(unsigned width, const Poly& poly) {
  return impl_->from_poly(width, poly);
}
std::optional<std::int64_t> Context::difference(Term a, Term b) {
  return impl_->difference(a, b);
}
Uniformity Context::uniformity(Term t) const {
  return impl_->node(t).uniformity;
}
std::vector<Term> Context::atoms(Term t) const {
  return impl_->atoms_of(t);
}
bool Context::depends_on(Term t, Term atom) const {
  return impl_->depends_on(t, atom);
}
Range Context::range(Term t) const {
  const Known& k = impl_->known(t);
  return {k.lo, k.hi};
}
SignedRange Context::signed_range(Term t) const {
  const Known& k = impl_->known(t);
  return {k.slo, k.shi};
}

Term Context::substitute(Term t, const Substitution& map) {
  return impl_->substitute(t, map);
}
Bits Context::evaluate(Term t, const AtomValue& atom_value,
                       const FunctionValue& function_value) const {
  return impl_->evaluate(t, atom_value, function_value);
}
std::string Context::to_string(Term t) const {
  return impl_->to_string(t);
}

std::size_t Context::node_count() const {
  return impl_->node_total;
}
std::size_t Context::memory_bytes() const {
  return impl_->memory();
}
void Context::allow(const Allowance& allowance) {
  impl_->allow(allowance);
}
void Context::restart_clock() {
  impl_->restart_clock();
}
void Context::spend(std::uint64_t steps) const {
  impl_->spend(steps);
}
void Context::hold(std::ptrdiff_t bytes) {
  impl_->held += static_cast<std::size_t>(bytes);
  impl_->check_memory();
}
std::uint64_t Context::spent() const {
  return impl_->spent;
}
bool Context::exhausted() const {
  return impl_->node_total > impl_->budget;
}

} // namespace ptxasw::sym
