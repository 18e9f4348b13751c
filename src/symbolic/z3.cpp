// The Z3 bridge. Terms of width 1 are Booleans in Z3, wider ones bit-vectors; applications are
// uninterpreted functions, one per symbol and signature.
#include "symbolic/z3.hpp"

#include "symbolic/bits.hpp"
#include "symbolic/z3_load.hpp"

#include <algorithm>
#include <map>
#include <z3++.h> // after z3_load.hpp

namespace ptxasw::sym {

namespace {

Bits from_decimal(std::string_view digits) {
  Bits value = 0;
  for (const char d : digits)
    value = value * 10 + static_cast<unsigned>(d - '0');
  return value;
}

} // namespace

struct Z3Session::Impl {
  using Memo = std::map<Term, z3::expr>;

  explicit Impl(const Context& context) : terms(context) {}

  z3::expr number(unsigned width, Bits value) { return z3.bv_val(decimal(value).c_str(), width); }
  z3::expr bits(const z3::expr& e) { // a Boolean as a bit-vector of width 1
    return e.is_bool() ? z3::ite(e, z3.bv_val(1, 1), z3.bv_val(0, 1)) : e;
  }
  z3::expr value(const z3::expr& e) { // and back
    return e.is_bv() && e.get_sort().bv_size() == 1 ? e == z3.bv_val(1, 1) : e;
  }

  const z3::expr& translate(Term t, Memo& memo);
  z3::expr translate_node(Term t, const Memo& memo);
  z3::expr translate_poly(Term t, const Memo& memo);
  z3::expr translate_apply(Term t, std::span<const z3::expr> args);
  z3::expr fold(Kind kind, const z3::expr& a, const z3::expr& b);
  void collect(Term t, std::vector<Term>& leaves) const;
  Result check(z3::solver& solver, const Limits& limits);
  std::optional<Bits> read(const z3::model& model, Term t);

  const Context& terms;
  z3::context z3;
  Memo memo;
  std::uint64_t spent = 0;
};

const z3::expr& Z3Session::Impl::translate(Term root, Memo& known) {
  std::vector<Term> todo{root};
  while (!todo.empty()) {
    const Term t = todo.back();
    if (known.contains(t)) {
      todo.pop_back();
      continue;
    }
    const std::size_t waiting = todo.size();
    for (const Term child : terms.args(t))
      if (!known.contains(child)) todo.push_back(child);
    if (todo.size() != waiting) continue;
    known.emplace(t, value(translate_node(t, known)));
    todo.pop_back();
  }
  return known.at(root);
}

z3::expr Z3Session::Impl::translate_poly(Term t, const Memo& known) {
  const unsigned w = terms.width(t);
  const Poly p = terms.poly(t);
  z3::expr sum = number(w, p.constant);
  bool first = p.constant == 0;
  for (const Monomial& m : p.terms) {
    z3::expr product = known.at(m.factors[0]);
    for (std::size_t i = 1; i < m.factors.size(); ++i)
      product = product * known.at(m.factors[i]);
    if (m.coefficient != 1) product = number(w, m.coefficient) * product;
    sum = first ? product : sum + product;
    first = false;
  }
  return sum;
}

z3::expr Z3Session::Impl::translate_apply(Term t, std::span<const z3::expr> args) {
  std::string name = std::to_string(terms.function(t));
  z3::sort_vector domain(z3);
  z3::expr_vector actual(z3);
  for (const z3::expr& a : args) {
    const z3::expr as_vector = bits(a);
    domain.push_back(as_vector.get_sort());
    actual.push_back(as_vector);
    name.append("_").append(std::to_string(as_vector.get_sort().bv_size()));
  }
  name.append("_to_").append(std::to_string(terms.width(t)));
  const z3::sort range = z3.bv_sort(terms.width(t));
  const z3::symbol symbol = z3.str_symbol(name.c_str());
  if (args.empty()) return z3.constant(symbol, range);
  return z3.function(symbol, domain, range)(actual);
}

z3::expr Z3Session::Impl::fold(Kind kind, const z3::expr& a, const z3::expr& b) {
  switch (kind) {
  case Kind::and_: return a.is_bool() ? a && b : a & b;
  case Kind::or_: return a.is_bool() ? a || b : a | b;
  case Kind::xor_: return a.is_bool() ? a != b : a ^ b;
  case Kind::shl: return z3::shl(bits(a), bits(b));
  case Kind::lshr: return z3::lshr(bits(a), bits(b));
  case Kind::ashr: return z3::ashr(bits(a), bits(b));
  case Kind::udiv: return z3::udiv(bits(a), bits(b));
  case Kind::urem: return z3::urem(bits(a), bits(b));
  case Kind::sdiv: return bits(a) / bits(b);
  case Kind::srem: return z3::srem(bits(a), bits(b));
  case Kind::concat: return z3::concat(bits(a), bits(b));
  case Kind::eq: return a == b;
  case Kind::ult: return z3::ult(bits(a), bits(b));
  default: return bits(a) < bits(b);
  }
}

z3::expr Z3Session::Impl::translate_node(Term t, const Memo& known) {
  const unsigned w = terms.width(t);
  std::vector<z3::expr> args;
  if (terms.kind(t) != Kind::poly)
    for (const Term child : terms.args(t))
      args.push_back(known.at(child));
  switch (terms.kind(t)) {
  case Kind::constant: return number(w, *terms.value(t));
  case Kind::atom:
    return z3.constant(z3.int_symbol(static_cast<int>(t.id)),
                       w == 1 ? z3.bool_sort() : z3.bv_sort(w));
  case Kind::poly: return translate_poly(t, known);
  case Kind::extract: return bits(args[0]).extract(terms.low(t) + w - 1, terms.low(t));
  case Kind::zext: return z3::zext(bits(args[0]), w - terms.width(terms.args(t)[0]));
  case Kind::sext: return z3::sext(bits(args[0]), w - terms.width(terms.args(t)[0]));
  case Kind::ite: return z3::ite(args[0], args[1], args[2]);
  case Kind::apply: return translate_apply(t, args);
  default: {
    z3::expr result = args[0];
    for (std::size_t i = 1; i < args.size(); ++i)
      result = fold(terms.kind(t), result, args[i]);
    return result;
  }
  }
}

// Atoms and applications below t, children first.
void Z3Session::Impl::collect(Term root, std::vector<Term>& leaves) const {
  std::vector<Term> todo{root};
  std::map<Term, bool> seen;
  while (!todo.empty()) {
    const Term t = todo.back();
    todo.pop_back();
    if (!seen.emplace(t, true).second) continue;
    if (terms.kind(t) == Kind::atom || terms.kind(t) == Kind::apply) leaves.push_back(t);
    for (const Term child : terms.args(t))
      todo.push_back(child);
  }
  std::ranges::sort(leaves);
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
}

Z3Session::Result Z3Session::Impl::check(z3::solver& solver, const Limits& limits) {
  z3::params params(z3);
  params.set("timeout", static_cast<unsigned>(limits.time.count()));
  params.set("rlimit", static_cast<unsigned>(std::min<std::uint64_t>(limits.resources, ~0U)));
  solver.set(params);
  Result result;
  switch (solver.check()) {
  case z3::unsat: result.verdict = Verdict::proved; break;
  case z3::sat: result.verdict = Verdict::refuted; break;
  case z3::unknown: result.why_unknown = solver.reason_unknown(); break;
  }
  const z3::stats stats = solver.statistics();
  for (unsigned i = 0; i < stats.size(); ++i)
    if (stats.key(i) == "rlimit count") {
      result.resources = stats.uint_value(i) - spent;
      spent = stats.uint_value(i);
    }
  return result;
}

std::optional<Bits> Z3Session::Impl::read(const z3::model& model, Term t) {
  const z3::expr e = model.eval(translate(t, memo), true);
  if (e.is_bool()) return e.is_true() ? Bits{1} : Bits{0};
  std::string digits;
  if (!e.is_numeral(digits)) return std::nullopt;
  return from_decimal(digits);
}

Z3Session::Z3Session(const Context& context) : impl_(std::make_unique<Impl>(context)) {}
Z3Session::~Z3Session() = default;

Z3Session::Result Z3Session::refute(const Query& query, const Limits& limits) {
  Impl& s = *impl_;
  z3::solver solver(s.z3, "QF_UFBV");
  std::vector<Term> leaves;
  for (const Term fact : query.facts) {
    s.collect(fact, leaves);
    solver.add(s.translate(fact, s.memo));
  }
  s.collect(query.left, leaves);
  s.collect(query.right, leaves);
  Impl::Memo replaced; // a memo of its own: below the left side, atoms mean their replacements
  if (query.replace_in_left != nullptr)
    for (const auto& [id, replacement] : *query.replace_in_left) {
      s.collect(replacement, leaves);
      replaced.emplace(Term{id}, s.translate(replacement, s.memo));
    }
  Impl::Memo& left_memo = query.replace_in_left != nullptr ? replaced : s.memo;
  solver.add(s.translate(query.left, left_memo) != s.translate(query.right, s.memo));
  for (const Term t : leaves) {
    if (s.terms.kind(t) != Kind::atom || s.terms.width(t) == 1) continue;
    const Atom& a = s.terms.atom_info(t);
    const z3::expr& e = s.translate(t, s.memo);
    if (a.lo != 0) solver.add(z3::uge(e, s.number(a.width, a.lo)));
    if (a.hi != low_mask(a.width)) solver.add(z3::ule(e, s.number(a.width, a.hi)));
  }
  Result result = s.check(solver, limits);
  if (result.verdict == Verdict::refuted) {
    const z3::model model = solver.get_model();
    for (const Term t : leaves)
      if (const auto v = s.read(model, t)) result.values.emplace_back(t, *v);
  }
  return result;
}

} // namespace ptxasw::sym
