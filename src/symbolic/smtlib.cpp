// Written without Z3 on purpose: a dumped query is an independent statement of what was asked.
// Every term is one define-fun; all are bit-vectors, conditions those of width 1.
#include "symbolic/smtlib.hpp"

#include "symbolic/bits.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace ptxasw::sym {

namespace {

class Writer {
public:
  explicit Writer(const Context& context) : c_(context) {}
  void define(Term root);
  void assert_true(Term t) { out_ += fmt::format("(assert (= {} #b1))\n", name(t)); }
  void assert_false(Term t) { out_ += fmt::format("(assert (= {} #b0))\n", name(t)); }
  std::string out_;

private:
  static std::string name(Term t) { return fmt::format("t{}", t.id); }
  static std::string number(unsigned width, Bits value) {
    std::string digits(width, '0');
    for (unsigned i = 0; i < width; ++i)
      if (((value >> i) & 1) != 0) digits[width - 1 - i] = '1';
    return fmt::format("#b{}", digits);
  }
  void define_node(Term t);
  void declare_atom(Term t);
  void declare_function(Term t);
  [[nodiscard]] std::string expression(Term t) const;
  [[nodiscard]] std::string polynomial(Term t) const;
  [[nodiscard]] std::string folded(std::string_view op, Term t) const;
  [[nodiscard]] std::string condition(std::string_view op, Term t) const;
  [[nodiscard]] std::string function_symbol(Term t) const;

  const Context& c_;
  std::set<Term> defined_;
  std::set<std::string> functions_;
};

std::string Writer::folded(std::string_view op, Term t) const {
  std::string text = name(c_.args(t)[0]);
  for (const Term arg : c_.args(t).subspan(1))
    text = fmt::format("({} {} {})", op, text, name(arg));
  return text;
}

std::string Writer::condition(std::string_view op, Term t) const {
  return fmt::format("(ite {} #b1 #b0)", folded(op, t));
}

std::string Writer::polynomial(Term t) const {
  const Poly p = c_.poly(t);
  const unsigned w = c_.width(t);
  std::string sum = number(w, p.constant);
  for (const Monomial& m : p.terms) {
    std::string product = number(w, m.coefficient);
    for (const Term f : m.factors)
      product = fmt::format("(bvmul {} {})", product, name(f));
    sum = fmt::format("(bvadd {} {})", sum, product);
  }
  return sum;
}

// One symbol per function, signature and result.
std::string Writer::function_symbol(Term t) const {
  std::string symbol = fmt::format("f{}_{}", c_.function(t), c_.width(t));
  for (const Term arg : c_.args(t))
    symbol += fmt::format("_{}", c_.width(arg));
  return symbol;
}

std::string Writer::expression(Term t) const {
  const auto args = c_.args(t);
  const unsigned w = c_.width(t);
  switch (c_.kind(t)) {
  case Kind::constant: return number(w, *c_.value(t));
  case Kind::poly: return polynomial(t);
  case Kind::and_: return folded("bvand", t);
  case Kind::or_: return folded("bvor", t);
  case Kind::xor_: return folded("bvxor", t);
  case Kind::shl: return folded("bvshl", t);
  case Kind::lshr: return folded("bvlshr", t);
  case Kind::ashr: return folded("bvashr", t);
  case Kind::udiv: return folded("bvudiv", t);
  case Kind::urem: return folded("bvurem", t);
  case Kind::sdiv: return folded("bvsdiv", t);
  case Kind::srem: return folded("bvsrem", t);
  case Kind::extract:
    return fmt::format("((_ extract {} {}) {})", c_.low(t) + w - 1, c_.low(t), name(args[0]));
  case Kind::concat: return folded("concat", t);
  case Kind::zext:
  case Kind::sext:
    return fmt::format("((_ {}_extend {}) {})", c_.kind(t) == Kind::zext ? "zero" : "sign",
                       w - c_.width(args[0]), name(args[0]));
  case Kind::eq: return condition("=", t);
  case Kind::ult: return condition("bvult", t);
  case Kind::slt: return condition("bvslt", t);
  case Kind::ite:
    return fmt::format("(ite (= {} #b1) {} {})", name(args[0]), name(args[1]), name(args[2]));
  case Kind::apply: {
    if (args.empty()) return function_symbol(t);
    std::string text = fmt::format("({}", function_symbol(t));
    for (const Term arg : args)
      text += fmt::format(" {}", name(arg));
    text += ')';
    return text;
  }
  case Kind::atom: break; // declared, not defined
  }
  return name(t);
}

void Writer::declare_atom(Term t) {
  const Atom& a = c_.atom_info(t);
  std::string label = a.name;
  std::ranges::replace(label, '\n', ' ');
  out_ += fmt::format("(declare-fun {} () (_ BitVec {})) ; {}\n", name(t), a.width, label);
  if (a.lo != 0) out_ += fmt::format("(assert (bvule {} {}))\n", number(a.width, a.lo), name(t));
  if (a.hi != low_mask(a.width))
    out_ += fmt::format("(assert (bvule {} {}))\n", name(t), number(a.width, a.hi));
}

void Writer::declare_function(Term t) {
  if (!functions_.insert(function_symbol(t)).second) return;
  std::string domain;
  for (const Term arg : c_.args(t))
    domain += fmt::format("(_ BitVec {})", c_.width(arg));
  std::string label(c_.function_name(t));
  std::ranges::replace(label, '\n', ' ');
  out_ += fmt::format("(declare-fun {} ({}) (_ BitVec {})) ; {}\n", function_symbol(t), domain,
                      c_.width(t), label);
}

void Writer::define_node(Term t) {
  if (c_.kind(t) == Kind::atom) return declare_atom(t);
  if (c_.kind(t) == Kind::apply) declare_function(t);
  out_ += fmt::format("(define-fun {} () (_ BitVec {}) {})\n", name(t), c_.width(t), expression(t));
}

void Writer::define(Term root) {
  std::vector<Term> todo{root};
  while (!todo.empty()) {
    const Term t = todo.back();
    const std::size_t waiting = todo.size();
    if (!defined_.contains(t))
      for (const Term child : c_.args(t))
        if (!defined_.contains(child)) todo.push_back(child);
    if (todo.size() != waiting) continue;
    if (defined_.insert(t).second) define_node(t);
    todo.pop_back();
  }
}

} // namespace

std::string smtlib(const Context& context, std::span<const Term> facts, Term goal,
                   std::string_view comment) {
  Writer writer(context);
  if (!comment.empty()) writer.out_ += fmt::format("; {}\n", comment);
  writer.out_ += "; unsat: the goal follows from the facts\n(set-logic QF_UFBV)\n";
  for (const Term fact : facts) {
    writer.define(fact);
    writer.assert_true(fact);
  }
  writer.define(goal);
  writer.assert_false(goal);
  writer.out_ += "(check-sat)\n";
  return std::move(writer.out_);
}

} // namespace ptxasw::sym
