// Changing widths: extract, concat, zero and sign extension.
//
// Extensions and extracts sink as far as they soundly can, so that an address becomes a polynomial
// over the extended leaves:
//  - the low bits of a polynomial are the polynomial of the low bits (truncation is a ring
//    homomorphism), and higher bits shed what is a multiple of their position;
//  - an extension passes through a polynomial only when interval arithmetic shows that the sum,
//    taken in the integers, fits the narrow width: sext(e + 1) is not sext(e) + 1 otherwise;
//  - sext becomes zext when the sign bit is known to be 0;
//  - concatenation is a sum of shifted extensions.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

namespace ptxasw::sym {

template <class Build>
Term Context::remember(Push push, Term a, unsigned p, unsigned q, Build build) {
  const std::uint64_t key = static_cast<std::uint64_t>(push) << 56 |
                            static_cast<std::uint64_t>(p) << 48 |
                            static_cast<std::uint64_t>(q) << 40 | a.id;
  if (const auto place = pushed_.find(key); place != pushed_.end()) return place->second;
  const Term result = build();
  pushed_.emplace(key, result);
  return result;
}

Term Context::extract(Term a, unsigned low, unsigned w) {
  assert(w >= 1 && low + w <= width(a));
  if (w == width(a)) return a;
  if (const Bits* v = numeral(a)) return constant(w, *v >> low);
  if (is(a, Kind::atom)) return extract_uncached(a, low, w);
  return remember(Push::extract, a, low, w, [&] { return extract_uncached(a, low, w); });
}

Term Context::extract_uncached(Term a, unsigned low, unsigned w) {
  const Node& n = node(a);
  const bool sink = n.depth <= max_push_depth;
  switch (n.kind) {
  case Kind::extract: return extract(n.args()[0], n.aux + low, w);
  case Kind::zext:
  case Kind::sext: return extract_extension(a, low, w);
  case Kind::poly:
    if (sink) return extract_poly(a, low, w);
    break;
  case Kind::and_:
  case Kind::or_:
  case Kind::xor_:
    if (sink) {
      Term result = extract(n.args()[0], low, w);
      for (const Term t : n.args().subspan(1)) {
        const Term part = extract(t, low, w);
        result = n.kind == Kind::and_  ? and_(result, part)
                 : n.kind == Kind::or_ ? or_(result, part)
                                       : xor_(result, part);
      }
      return result;
    }
    break;
  case Kind::ite:
    if (sink) return ite(n.args()[0], extract(n.args()[1], low, w), extract(n.args()[2], low, w));
    break;
  default: break;
  }
  return extract_node(a, low, w);
}

Term Context::extract_extension(Term a, unsigned low, unsigned w) {
  const Node& n = node(a);
  const Term inner = n.args()[0];
  const unsigned inner_width = width(inner);
  if (low + w <= inner_width) return extract(inner, low, w);
  if (n.kind == Kind::zext) {
    if (low >= inner_width) return constant(w, 0);
    return zext(extract(inner, low, inner_width - low), w);
  }
  const unsigned from = std::min(low, inner_width - 1);
  return sext(extract(inner, from, inner_width - from), w);
}

// p = 2^at * above + rest, in the integers modulo 2^width.
Context::Split Context::split_at(PolyView p, unsigned at) {
  Split split;
  const Bits mask = low_mask(at);
  split.above.constant = p.constant & ~mask;
  split.rest.constant = p.constant & mask;
  for (std::size_t i = 0; i < p.size(); ++i)
    ((p.coefficients[i] & mask) == 0 ? split.above : split.rest)
        .push(p.coefficients[i], p.factors(i));
  return split;
}

Term Context::above_at(const Split& split, unsigned at, unsigned w) {
  return map_poly(
      split.above.view(), w, split.above.constant >> at, [&](Bits c) { return c >> at; },
      [&](Term f) { return extract(f, 0, w); });
}

Term Context::extract_poly(Term a, unsigned low, unsigned w) {
  const Node& n = node(a);
  const PolyView p = view(a);
  if (low == 0)
    return map_poly(
        p, w, p.constant, [](Bits c) { return c; }, [&](Term f) { return extract(f, 0, w); });
  // What lies below a multiple of 2^at and cannot carry is shifted out, for the largest such at.
  const auto shifted_out = [&](const Split& split, unsigned at) {
    const Exact bounds = exact(split.rest.view(), n.width);
    return bounds.bounded && bounds.lo >= 0 && bit_length(as_bits(bounds.hi)) <= at;
  };
  const Split here = split_at(p, low);
  const bool nothing_above = here.above.coefficients.empty() && here.above.constant == 0;
  if (shifted_out(here, low)) return above_at(here, low, w);
  unsigned at = 0;
  for (const Bits c : p.coefficients)
    if (const unsigned zeros = trailing_zeros(c); zeros > at && zeros < low)
      if (shifted_out(split_at(p, zeros), zeros)) at = zeros;
  if (at > 0) return extract(above_at(split_at(p, at), at, n.width - at), low - at, w);
  // Otherwise a = 2^low * above + rest, hence (a >> low) = above + (rest >> low).
  if (!nothing_above)
    return add(above_at(here, low, w), extract(finish(n.width, here.rest), low, w));
  return extract_node(a, low, w);
}

// No rule applies but the last ones.
Term Context::extract_node(Term a, unsigned low, unsigned w) {
  if (((known(a).zeros >> low) & low_mask(w)) == low_mask(w)) return constant(w, 0);
  if (w == 1 && low + 1 == width(a)) return slt(a, constant(width(a), 0)); // the sign
  return intern(Kind::extract, w, {a}, low);
}

// concat(high bits of x, low bits of x) = x, also when x is a polynomial whose multiples of
// 2^(width of low) have left the high part: then high = above + (rest >> k).
std::optional<Term> Context::rejoin(Term high, Term low) {
  const unsigned k = width(low);
  const unsigned w = k + width(high);
  if (w > 128) return std::nullopt;
  const Node& h = node(high);
  const Node& l = node(low);
  if (h.kind == Kind::extract && l.kind == Kind::extract && h.args()[0] == l.args()[0] &&
      h.aux == l.aux + k)
    return extract(h.args()[0], l.aux, w);
  const PolyView p = view(high);
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p.coefficients[i] != 1 || p.factors(i).size() != 1) continue;
    const Node& piece = node(p.factors(i)[0]);
    if (piece.kind != Kind::extract || piece.aux != k) continue;
    const Term rest = piece.args()[0];
    if (width(rest) != w || extract(rest, 0, k) != low) continue;
    const Term above = sub(high, piece.self);
    // Only the low bits of the lifted terms matter: they are shifted up.
    const auto lift = [&](Term f) {
      const Node& factor = node(f);
      const bool is_low_part =
          factor.kind == Kind::extract && factor.aux == 0 && width(factor.args()[0]) == w;
      return is_low_part ? factor.args()[0] : zext(f, w);
    };
    const PolyView q = view(above);
    const Term lifted = map_poly(
        q, w, q.constant, [](Bits c) { return c; }, lift);
    return add(scale(lifted, Bits{1} << k), rest);
  }
  return std::nullopt;
}

Term Context::concat(Term high, Term low) {
  const unsigned w = width(high) + width(low);
  assert(w <= 128);
  if (const auto whole = rejoin(high, low)) return *whole;
  return add(scale(zext(high, w), Bits{1} << width(low)), zext(low, w));
}

Term Context::resize_unsigned(Term a, unsigned w) {
  return w <= width(a) ? extract(a, 0, w) : zext(a, w);
}

Term Context::resize_signed(Term a, unsigned w) {
  return w <= width(a) ? extract(a, 0, w) : sext(a, w);
}

Term Context::zext(Term a, unsigned w) {
  assert(w >= width(a) && w <= 128);
  if (w == width(a)) return a;
  if (const Bits* v = numeral(a)) return constant(w, *v);
  if (is(a, Kind::atom)) return intern(Kind::zext, w, {a});
  return remember(Push::zext, a, w, 0, [&] { return zext_uncached(a, w); });
}

Term Context::sext(Term a, unsigned w) {
  assert(w >= width(a) && w <= 128);
  if (w == width(a)) return a;
  if (const Bits* v = numeral(a)) return constant(w, as_bits(as_signed(*v, width(a))));
  return remember(Push::sext, a, w, 0, [&] { return sext_uncached(a, w); });
}

std::optional<Term> Context::extend_ite(Term a, unsigned w, bool is_signed) {
  const Node& n = node(a);
  if (n.kind != Kind::ite || n.width == 1 || n.depth > max_push_depth) return std::nullopt;
  const auto extend = [&](Term t) { return is_signed ? sext(t, w) : zext(t, w); };
  return ite(n.args()[0], extend(n.args()[1]), extend(n.args()[2]));
}

// An extension of a polynomial whose value in the integers is known to fit: every factor is
// extended as the interval arithmetic read it, every coefficient as a signed number.
Term Context::extend_poly(Term a, unsigned w) {
  const unsigned narrow = width(a);
  const PolyView p = view(a);
  return map_poly(
      p, w, as_bits(as_signed(p.constant, narrow)),
      [&](Bits c) { return as_bits(as_signed(c, narrow)); },
      [&](Term f) { return reading(f).is_signed ? sext(f, w) : zext(f, w); });
}

Term Context::zext_uncached(Term a, unsigned w) {
  const Node& n = node(a);
  if (n.kind == Kind::zext) return zext(n.args()[0], w);
  if (const auto inner = negated(a)) return sub(constant(w, 1), zext(*inner, w));
  if (const auto result = extend_ite(a, w, false)) return *result;
  if (n.kind == Kind::poly && n.depth <= max_push_depth &&
      exact(view(a), n.width).fits_unsigned(n.width))
    return extend_poly(a, w);
  if (n.kind == Kind::extract) {
    const Term inner = n.args()[0];
    const unsigned inner_width = width(inner);
    const unsigned end = n.aux + n.width;
    // Bits above the extract that are known to be 0 may as well be taken along.
    const bool zeros_above = known(inner).hi <= low_mask(end);
    if (zeros_above && n.aux == 0) return resize_unsigned(inner, w);
    if (zeros_above && end < inner_width)
      return resize_unsigned(extract(inner, n.aux, inner_width - n.aux), w);
  }
  return intern(Kind::zext, w, {a});
}

Term Context::sext_uncached(Term a, unsigned w) {
  const Node& n = node(a);
  if (n.width == 1) return neg(zext(a, w));
  if (known(a).slo >= 0) return zext(a, w);
  if (n.kind == Kind::sext) return sext(n.args()[0], w);
  if (const auto result = extend_ite(a, w, true)) return *result;
  if (n.kind == Kind::poly && n.depth <= max_push_depth &&
      exact(view(a), n.width).fits_signed(n.width))
    return extend_poly(a, w);
  if (n.kind == Kind::extract && n.aux == 0) {
    const Term inner = n.args()[0];
    const Known& k = known(inner);
    const SBits limit = SBits{1} << (n.width - 1);
    if (-limit <= k.slo && k.shi < limit) return resize_signed(inner, w);
  }
  return intern(Kind::sext, w, {a});
}

} // namespace ptxasw::sym
