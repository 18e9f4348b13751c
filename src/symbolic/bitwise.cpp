// Logic. Wider than one bit: masks become extracts (x & 31 is the low five bits of x, so that it
// sees through 32*y + x), disjoint `or` and `xor` become additions, complements are -1 - x.
// One bit: conditions are kept as conjunctions, exclusive ors and negations; `or` is a negated
// conjunction, so De Morgan's laws hold by construction.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <algorithm>

namespace ptxasw::sym {

namespace {

void sort_unique(std::vector<Term>& terms) {
  std::ranges::sort(terms);
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
}

// x ^ x = 0: keeps what occurs an odd number of times.
void sort_cancel_pairs(std::vector<Term>& terms) {
  std::ranges::sort(terms);
  std::vector<Term> kept;
  for (const Term t : terms) {
    if (!kept.empty() && kept.back() == t) {
      kept.pop_back();
    } else {
      kept.push_back(t);
    }
  }
  terms = std::move(kept);
}

bool contains(std::span<const Term> terms, Term t) {
  return std::ranges::find(terms, t) != terms.end();
}

} // namespace

Context::Operands Context::flatten(Kind kind, Term a, Term b) const {
  Operands result;
  result.constant = kind == Kind::and_ ? low_mask(width(a)) : 0;
  const auto operands_of = [&](const Term& t) {
    return is(t, kind) ? node(t).args() : std::span<const Term>(&t, 1);
  };
  const bool too_many = operands_of(a).size() + operands_of(b).size() > max_arguments;
  for (const Term& side : {a, b})
    for (const Term t : too_many ? std::span<const Term>(&side, 1) : operands_of(side)) {
      if (const Bits* v = numeral(t)) {
        result.constant = fold_binary(kind, width(a), result.constant, *v);
      } else {
        result.terms.push_back(t);
      }
    }
  return result;
}

Term Context::nary(Kind kind, unsigned w, std::span<const Term> terms, Bits constant_part,
                   Bits identity) {
  if (terms.empty()) return constant(w, constant_part);
  if (constant_part == identity && terms.size() == 1) return terms[0];
  std::vector<Term> all;
  all.reserve(terms.size() + 1);
  if (constant_part != identity) all.push_back(constant(w, constant_part));
  all.insert(all.end(), terms.begin(), terms.end());
  return intern(NodeKey{kind, w, 0, all, {}, {}});
}

// --- one bit -------------------------------------------------------------------------------------

std::optional<Term> Context::negated(Term t) {
  const Node& n = node(t);
  if (n.kind != Kind::xor_ || n.width != 1 || !is_value(n.args()[0], 1)) return std::nullopt;
  return nary(Kind::xor_, 1, n.args().subspan(1), 0, 0);
}

Term Context::not_(Term a) {
  const unsigned w = width(a);
  if (w > 1) return sub(constant(w, ~Bits{0}), a);
  if (const Bits* v = numeral(a)) return constant(1, *v ^ 1);
  if (const auto inner = negated(a)) return *inner;
  if (is(a, Kind::xor_)) return nary(Kind::xor_, 1, node(a).args(), 1, 0);
  return intern(Kind::xor_, 1, {constant(1, 1), a});
}

Term Context::boolean_xor(Term a, Term b) {
  Operands all = flatten(Kind::xor_, a, b);
  sort_cancel_pairs(all.terms);
  // Flattening one operand may uncover a nested one (too long before, short enough now).
  return nary(Kind::xor_, 1, all.terms, all.constant, 0);
}

// Simplifies `conjunct`, one operand of a conjunction, knowing that the others hold:
// not(s1 and s2 and ...) loses every s that holds, and is true when some s is false.
// False when the conjunct is implied.
bool Context::simplify_conjunct(Term& conjunct, std::span<const Term> others) {
  const auto inner = negated(conjunct);
  if (!inner || !is(*inner, Kind::and_)) return true;
  std::vector<Term> kept;
  for (const Term s : node(*inner).args()) {
    if (contains(others, not_(s))) return false;
    if (!contains(others, s)) kept.push_back(s);
  }
  if (kept.size() != node(*inner).args().size()) conjunct = not_(nary(Kind::and_, 1, kept, 1, 1));
  return true;
}

Term Context::boolean_and(Term a, Term b) {
  // Simplifying one operand can uncover another chance, so repeat until nothing changes.
  Operands all = flatten(Kind::and_, a, b);
  for (bool again = true; again;) {
    again = false;
    if (all.constant == 0) return boolean(false);
    sort_unique(all.terms);
    for (const Term t : all.terms)
      if (const auto inner = negated(t); inner && contains(all.terms, *inner))
        return boolean(false);
    for (std::size_t i = 0; i < all.terms.size() && !again; ++i) {
      Term t = all.terms[i];
      if (!simplify_conjunct(t, all.terms)) {
        all.terms.erase(all.terms.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
      } else if (t != all.terms[i]) {
        const Operands pieces = flatten(Kind::and_, t, boolean(true));
        all.constant &= pieces.constant;
        all.terms.erase(all.terms.begin() + static_cast<std::ptrdiff_t>(i));
        all.terms.insert(all.terms.end(), pieces.terms.begin(), pieces.terms.end());
        again = true;
      }
    }
  }
  return nary(Kind::and_, 1, all.terms, 1, 1);
}

// --- wider ---------------------------------------------------------------------------------------

bool Context::complements(Term a, Term b) const { // a + b = -1
  const unsigned w = width(a);
  const PolyView p = view(a);
  const PolyView q = view(b);
  return ((p.constant + q.constant + 1) & low_mask(w)) == 0 && same_monomials(p, q, true, w);
}

bool Context::any_complements(std::span<const Term> terms) const {
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t j = i + 1; j < terms.size(); ++j)
      if (complements(terms[i], terms[j])) return true;
  return false;
}

// x & (x | y) = x and x | (x & y) = x.
void Context::absorb(Kind inner, std::vector<Term>& terms) const {
  const std::vector<Term> all = terms;
  std::erase_if(terms, [&](Term t) {
    return is(t, inner) &&
           std::ranges::any_of(node(t).args(), [&](Term s) { return contains(all, s); });
  });
}

Term Context::masked(Term a, Bits mask) {
  const unsigned w = width(a);
  Operands all = flatten(Kind::and_, a, constant(w, mask));
  mask = all.constant;
  a = nary(Kind::and_, w, all.terms, low_mask(w), low_mask(w));
  if (const Bits* v = numeral(a)) return constant(w, *v & mask);
  const Bits zeros = known(a).zeros;
  if ((mask | zeros) == low_mask(w)) return a;
  const Bits wanted = mask & ~zeros;
  if (wanted == 0) return constant(w, 0);
  const unsigned low = trailing_zeros(wanted);
  const unsigned high = bit_length(wanted);
  const Bits run = low_mask(high) & ~low_mask(low);
  if ((run & ~(mask | zeros)) == 0)
    return scale(zext(extract(a, low, high - low), w), Bits{1} << low);
  return nary(Kind::and_, w, all.terms, wanted, low_mask(w));
}

Term Context::and_(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (a == b) return a;
  if (w == 1) return boolean_and(a, b);
  if (const Bits* v = numeral(a)) return masked(b, *v);
  if (const Bits* v = numeral(b)) return masked(a, *v);
  if ((known(a).zeros | known(b).zeros) == low_mask(w)) return constant(w, 0);
  Operands all = flatten(Kind::and_, a, b);
  sort_unique(all.terms);
  if (any_complements(all.terms)) return constant(w, 0);
  absorb(Kind::or_, all.terms);
  const Term rest = nary(Kind::and_, w, all.terms, low_mask(w), low_mask(w));
  return all.constant == low_mask(w) ? rest : masked(rest, all.constant);
}

Term Context::or_(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (a == b) return a;
  if (w == 1) return not_(and_(not_(a), not_(b)));
  if ((known(a).zeros | known(b).zeros) == low_mask(w)) return add(a, b); // no carries
  Operands all = flatten(Kind::or_, a, b);
  sort_unique(all.terms);
  if (all.constant == low_mask(w) || any_complements(all.terms)) return constant(w, ~Bits{0});
  absorb(Kind::and_, all.terms);
  return nary(Kind::or_, w, all.terms, all.constant, 0);
}

// Operands ~t, t + 2^(w-1) and ~t + 2^(w-1) become t and a change of the constant.
void Context::strip_affine(Operands& operands, unsigned w) {
  const Bits mask = low_mask(w);
  const Bits top = Bits{1} << (w - 1);
  for (std::size_t i = 0; i < operands.terms.size(); ++i) {
    const PolyView p = view(operands.terms[i]);
    if (!is(operands.terms[i], Kind::poly) || p.size() != 1 || p.factors(0).size() != 1) continue;
    const Bits c = p.coefficients[0];
    Bits change = 0;
    if (c == 1 && p.constant == top) change = top;
    if (c == mask && p.constant == mask) change = mask;
    if (c == mask && p.constant == (mask ^ top)) change = mask ^ top;
    if (change == 0) continue;
    operands.constant ^= change;
    const Term t = p.factors(0)[0];
    operands.terms.erase(operands.terms.begin() + static_cast<std::ptrdiff_t>(i--));
    const Operands inner = flatten(Kind::xor_, t, constant(w, 0));
    operands.constant ^= inner.constant;
    operands.terms.insert(operands.terms.end(), inner.terms.begin(), inner.terms.end());
  }
}

Term Context::xor_(Term a, Term b) {
  const unsigned w = width(a);
  assert(w == width(b));
  if (a == b) return constant(w, 0);
  if (w == 1) return boolean_xor(a, b);
  if ((known(a).zeros | known(b).zeros) == low_mask(w)) return add(a, b); // no carries
  const Bits mask = low_mask(w);
  const Bits top = Bits{1} << (w - 1);
  Operands all = flatten(Kind::xor_, a, b);
  strip_affine(all, w);
  sort_cancel_pairs(all.terms);
  for (std::size_t i = 0; i < all.terms.size(); ++i)
    for (std::size_t j = i + 1; j < all.terms.size(); ++j)
      if (complements(all.terms[i], all.terms[j])) {
        all.terms.erase(all.terms.begin() + static_cast<std::ptrdiff_t>(j));
        all.terms.erase(all.terms.begin() + static_cast<std::ptrdiff_t>(i--));
        all.constant ^= mask;
        break;
      }
  // x ^ ~c = ~(x ^ c) and x ^ (c + 2^(w-1)) = (x ^ c) + 2^(w-1): of the four constants that differ
  // only so, the node keeps the least.
  const Bits c = all.constant;
  const Bits least = std::min({c, c ^ mask, c ^ top, c ^ mask ^ top});
  Term result = nary(Kind::xor_, w, all.terms, least, 0);
  Bits change = c ^ least;
  if ((change & 1) != 0) {
    result = not_(result);
    change ^= mask;
  }
  return change == 0 ? result : add(result, constant(w, top));
}

} // namespace ptxasw::sym
