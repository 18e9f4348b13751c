// Interval arithmetic: an unsigned interval, a signed one and the bits known to be zero, for each
// term once. Sums are bounded in the integers first (Exact) and then brought back modulo 2^width
// where they do not straddle a multiple of it; anything uncertain is the full range.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <algorithm>

namespace ptxasw::sym {

namespace {

SBits least(unsigned width) {
  return as_signed(Bits{1} << (width - 1), width);
}
SBits greatest(unsigned width) {
  return static_cast<SBits>(low_mask(width - 1));
}

Known anything(unsigned width) {
  return {0, low_mask(width), least(width), greatest(width), 0};
}

// Each of the three views bounds the other two.
void tighten(Known& k, unsigned width) {
  const Bits mask = low_mask(width);
  k.zeros &= mask;
  k.hi = std::min(k.hi, mask & ~k.zeros);
  if (k.hi <= as_bits(greatest(width))) {
    k.slo = std::max(k.slo, static_cast<SBits>(k.lo));
    k.shi = std::min(k.shi, static_cast<SBits>(k.hi));
  } else if (k.lo > as_bits(greatest(width))) {
    k.slo = std::max(k.slo, as_signed(k.lo, width));
    k.shi = std::min(k.shi, as_signed(k.hi, width));
  }
  if (k.slo >= 0 || k.shi < 0) {
    k.lo = std::max(k.lo, as_bits(k.slo) & mask);
    k.hi = std::min(k.hi, as_bits(k.shi) & mask);
  }
  k.zeros |= mask & ~low_mask(bit_length(k.hi));
}

Exact sum_of(const Exact& a, const Exact& b) {
  Exact r;
  r.bounded = a.bounded && b.bounded && !__builtin_add_overflow(a.lo, b.lo, &r.lo) &&
              !__builtin_add_overflow(a.hi, b.hi, &r.hi);
  return r;
}

Exact product_of(const Exact& a, const Exact& b) {
  Exact r;
  if (!a.bounded || !b.bounded) return r;
  bool first = true;
  for (const SBits x : {a.lo, a.hi})
    for (const SBits y : {b.lo, b.hi}) {
      SBits p = 0;
      if (__builtin_mul_overflow(x, y, &p)) return r;
      r.lo = first ? p : std::min(r.lo, p);
      r.hi = first ? p : std::max(r.hi, p);
      first = false;
    }
  r.bounded = true;
  return r;
}

Exact exactly(SBits value) {
  return {true, value, value};
}

unsigned low_zeros(Bits zeros) {
  return trailing_zeros(~zeros);
}

} // namespace

bool Exact::fits_unsigned(unsigned width) const {
  return bounded && lo >= 0 && as_bits(hi) <= low_mask(width);
}
bool Exact::fits_signed(unsigned width) const {
  return bounded && least(width) <= lo && hi <= greatest(width);
}

Reading Context::reading(Term factor) {
  const Known& k = known(factor);
  const bool too_large = k.hi > as_bits(greatest(128));
  const bool is_signed = k.slo < 0 && (too_large || as_bits(k.shi) - as_bits(k.slo) < k.hi - k.lo);
  if (is_signed) return {{true, k.slo, k.shi}, true};
  return {{!too_large, static_cast<SBits>(k.lo), static_cast<SBits>(k.hi)}, false};
}

Exact Context::exact(PolyView p, unsigned w) {
  Exact total = exactly(as_signed(p.constant, w));
  for (std::size_t i = 0; i < p.size() && total.bounded; ++i) {
    Exact monomial = exactly(as_signed(p.coefficients[i], w));
    for (const Term f : p.factors(i))
      monomial = product_of(monomial, reading(f).interval);
    total = sum_of(total, monomial);
  }
  return total;
}

const Known& Context::known(Term t) {
  std::vector<Term> todo;
  for (Term current = t;;) {
    const Node& n = node(current);
    const std::size_t waiting = todo.size();
    if (n.known == 0) {
      const auto unknown = [&](Term child) { return node(child).known == 0; };
      for (const Term child : n.args())
        if (unknown(child)) {
          if (todo.size() == waiting) todo.push_back(current);
          todo.push_back(child);
        }
      if (todo.size() == waiting) {
        knowledge_.push_back(compute_known(n));
        chunks_[current.id / chunk_nodes][current.id % chunk_nodes].known =
            static_cast<std::uint32_t>(knowledge_.size());
      }
    }
    if (todo.empty()) return knowledge_[node(t).known - 1];
    current = todo.back();
    todo.pop_back();
  }
}

Known Context::compute_known(const Node& n) {
  const unsigned w = n.width;
  Known k = anything(w);
  switch (n.kind) {
  case Kind::constant:
    k.lo = k.hi = n.numbers[0];
    k.zeros = ~n.numbers[0];
    break;
  case Kind::atom:
    k.lo = atoms_[n.aux].lo;
    k.hi = atoms_[n.aux].hi;
    break;
  case Kind::poly: know_poly(n, k); break;
  case Kind::and_:
  case Kind::or_:
  case Kind::xor_: know_bitwise(n, k); break;
  case Kind::shl:
  case Kind::lshr:
  case Kind::ashr: know_shift(n, k); break;
  case Kind::udiv:
  case Kind::urem:
  case Kind::sdiv:
  case Kind::srem: know_division(n, k); break;
  case Kind::extract: know_extract(n, k); break;
  case Kind::zext: {
    const Known& inner = known(n.args()[0]);
    k.lo = inner.lo;
    k.hi = inner.hi;
    k.zeros = inner.zeros | ~low_mask(width(n.args()[0]));
    break;
  }
  case Kind::sext: {
    const Known& inner = known(n.args()[0]);
    k.slo = inner.slo;
    k.shi = inner.shi;
    break;
  }
  case Kind::ite: know_ite(n, k); break;
  case Kind::concat: // always written as a sum
  case Kind::eq:
  case Kind::ult:
  case Kind::slt:
  case Kind::apply: break;
  }
  tighten(k, w);
  return k;
}

void Context::know_poly(const Node& n, Known& k) {
  const unsigned w = n.width;
  const Bits mask = low_mask(w);
  const PolyView p = view(n.self);
  const Exact e = exact(p, w);
  if (e.fits_unsigned(w)) {
    k.lo = as_bits(e.lo);
    k.hi = as_bits(e.hi);
  }
  if (e.fits_signed(w)) {
    k.slo = e.lo;
    k.shi = e.hi;
  }
  if (e.bounded && w < 120) { // a window of 2^w that holds the whole sum?
    const SBits half = SBits{1} << (w - 1);
    if ((e.lo >> w) == (e.hi >> w)) {
      k.lo = as_bits(e.lo) & mask;
      k.hi = as_bits(e.hi) & mask;
    }
    if (e.hi < greatest(128) - half && ((e.lo + half) >> w) == ((e.hi + half) >> w)) {
      k.slo = as_signed(as_bits(e.lo) & mask, w);
      k.shi = as_signed(as_bits(e.hi) & mask, w);
    }
  }
  // Summands without a common bit do not carry; otherwise only the low zeros are certain.
  Bits possible = p.constant;
  bool carries = false;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Bits c = p.coefficients[i];
    unsigned low = trailing_zeros(c);
    Bits bits = 0;
    if (is_power_of_two(c) && p.factors(i).size() == 1) {
      bits = ~known(p.factors(i)[0]).zeros & mask;
      bits = (bits << low) & mask;
    } else {
      for (const Term f : p.factors(i))
        low += low_zeros(known(f).zeros);
      bits = mask & ~low_mask(std::min(low, 128U));
    }
    carries = carries || (possible & bits) != 0;
    possible |= bits;
  }
  k.zeros = carries ? low_mask(std::min(trailing_zeros(possible), 128U)) : ~possible;
}

void Context::know_bitwise(const Node& n, Known& k) {
  const Known& first = known(n.args()[0]);
  k.zeros = first.zeros;
  Bits largest_lo = first.lo;
  Bits smallest_hi = first.hi;
  for (const Term t : n.args().subspan(1)) {
    const Known& next = known(t);
    k.zeros = n.kind == Kind::and_ ? k.zeros | next.zeros : k.zeros & next.zeros;
    largest_lo = std::max(largest_lo, next.lo);
    smallest_hi = std::min(smallest_hi, next.hi);
  }
  if (n.kind == Kind::and_) k.hi = smallest_hi;
  if (n.kind == Kind::or_) k.lo = largest_lo;
}

void Context::know_shift(const Node& n, Known& k) {
  const unsigned w = n.width;
  const Known& a = known(n.args()[0]);
  const Known& s = known(n.args()[1]);
  const auto clipped = [&](Bits amount) {
    return static_cast<unsigned>(std::min(amount, Bits{w}));
  };
  const auto down = [&](Bits v, unsigned amount) { return amount >= 128 ? 0 : v >> amount; };
  if (n.kind == Kind::shl) { // 1 << s
    k.zeros = low_mask(clipped(s.lo));
    if (s.hi < w) k.hi = Bits{1} << static_cast<unsigned>(s.hi);
  } else if (n.kind == Kind::lshr) {
    k.lo = down(a.lo, clipped(s.hi));
    k.hi = down(a.hi, clipped(s.lo));
  } else {
    const unsigned least_amount = std::min(clipped(s.lo), w - 1);
    const unsigned most = std::min(clipped(s.hi), w - 1);
    k.slo = a.slo >> (a.slo < 0 ? least_amount : most);
    k.shi = a.shi >> (a.shi < 0 ? most : least_amount);
  }
}

void Context::know_division(const Node& n, Known& k) {
  const Known& a = known(n.args()[0]);
  const Known& b = known(n.args()[1]);
  switch (n.kind) {
  case Kind::udiv:
    if (b.lo == 0) break;
    k.lo = a.lo / b.hi;
    k.hi = a.hi / b.lo;
    break;
  case Kind::urem: k.hi = b.lo == 0 ? a.hi : std::min(a.hi, b.hi - 1); break;
  case Kind::sdiv:
    if (b.slo <= 0) break;
    k.slo = a.slo / (a.slo < 0 ? b.slo : b.shi);
    k.shi = a.shi / (a.shi < 0 ? b.shi : b.slo);
    break;
  case Kind::srem: // the sign of a, and no farther from zero than it
    k.slo = std::min(a.slo, SBits{0});
    k.shi = std::max(a.shi, SBits{0});
    if (b.slo > 0) {
      k.slo = std::max(k.slo, -(b.shi - 1));
      k.shi = std::min(k.shi, b.shi - 1);
    }
    break;
  default: break;
  }
}

void Context::know_extract(const Node& n, Known& k) {
  const Known& a = known(n.args()[0]);
  const unsigned w = n.width;
  const unsigned low = n.aux;
  k.zeros = a.zeros >> low;
  const Bits lo = a.lo >> low;
  const Bits hi = a.hi >> low;
  if (w == 128 || (lo >> w) == (hi >> w)) { // the bits above the extract are the same
    k.lo = lo & low_mask(w);
    k.hi = hi & low_mask(w);
  }
  if (low == 0 && least(w) <= a.slo && a.shi <= greatest(w)) {
    k.slo = a.slo;
    k.shi = a.shi;
  }
}

// What is known of t where the condition holds (or fails).
Known Context::branch(Term t, Term condition, bool holds) {
  Known k = known(t);
  const Node& c = node(condition);
  if (c.kind != Kind::ult && c.kind != Kind::slt) return k;
  const Term x = c.args()[0];
  const Term y = c.args()[1];
  const Known& a = known(x);
  const Known& b = known(y);
  Known narrowed = k;
  if (c.kind == Kind::ult) {
    if (t == x && holds && b.hi > 0) narrowed.hi = std::min(k.hi, b.hi - 1);
    if (t == x && !holds) narrowed.lo = std::max(k.lo, b.lo);
    if (t == y && holds && a.lo < low_mask(width(x))) narrowed.lo = std::max(k.lo, a.lo + 1);
    if (t == y && !holds) narrowed.hi = std::min(k.hi, a.hi);
  } else {
    const unsigned w = width(x);
    if (t == x && holds && b.shi > least(w)) narrowed.shi = std::min(k.shi, b.shi - 1);
    if (t == x && !holds) narrowed.slo = std::max(k.slo, b.slo);
    if (t == y && holds && a.slo < greatest(w)) narrowed.slo = std::max(k.slo, a.slo + 1);
    if (t == y && !holds) narrowed.shi = std::min(k.shi, a.shi);
  }
  if (narrowed.lo > narrowed.hi || narrowed.slo > narrowed.shi) return k; // never taken
  tighten(narrowed, width(t));
  return narrowed.lo > narrowed.hi || narrowed.slo > narrowed.shi ? k : narrowed;
}

void Context::know_ite(const Node& n, Known& k) {
  const Known a = branch(n.args()[1], n.args()[0], true);
  const Known b = branch(n.args()[2], n.args()[0], false);
  k.lo = std::min(a.lo, b.lo);
  k.hi = std::max(a.hi, b.hi);
  k.slo = std::min(a.slo, b.slo);
  k.shi = std::max(a.shi, b.shi);
  k.zeros = a.zeros & b.zeros;
}

} // namespace ptxasw::sym
