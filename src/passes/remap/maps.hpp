// Where the n-th block, element or thread goes: the arithmetic of the remaps, written once over a
// machine M that computes with unsigned numbers of 32 bits. One emits PTX (remap.cpp); the tests
// have one of numbers and one of terms.
//
// M has a type Value and  number(n), add, sub, mul, div, rem, min, choose_odd(y, a, b)  (a where y
// is odd, else b). PROOF.md has the proofs.
#pragma once

namespace ptxasw::passes {

template <class M> using ValueOf = typename M::Value;

template <class Value> struct PlaceInPlane { Value x, y; };

// The n-th place of a plane of nx by ny places, walked in columns `width` wide, odd rows backwards
// if `zigzag`. Every place comes once for n = 0 .. nx*ny - 1, if 0 < nx*ny < 2^32 and 0 < width.
//
// Let w = min(width, nx) and a = w*ny, the places of a full column. The first nx/w columns are
// full, so n/a is the column: those before it have a places each, and the narrow one at the end, if
// there is one, has fewer. Nothing exceeds nx*ny, so nothing wraps.
template <class M>
PlaceInPlane<ValueOf<M>> walk(M& m, ValueOf<M> n, ValueOf<M> nx, ValueOf<M> ny, unsigned width,
                              bool zigzag) {
  using Value = ValueOf<M>;
  const Value full = m.min(nx, m.number(width));
  const Value area = m.mul(full, ny);
  const Value column = m.div(n, area);
  const Value first = m.mul(column, full);
  const Value wide = m.min(m.sub(nx, first), full);
  const Value rest = m.sub(n, m.mul(column, area));
  const Value y = m.div(rest, wide);
  Value x = m.sub(rest, m.mul(y, wide));
  if (zigzag) x = m.choose_odd(y, m.sub(m.sub(wide, m.number(1)), x), x);
  return {m.add(first, x), y};
}

template <class Value> struct PlaceInGroup {
  Value x, row, block; // %tid.x, and %tid and %ctaid of the other axis
};

// The threads of `threads` columns and `rows` rows a block, in groups of the fewest blocks that
// have `lanes` rows (or are left at the end): in the order of their lanes they take the places of
// the group column by column. Numbers below 2^21.
template <class M>
PlaceInGroup<ValueOf<M>> swap_axes(M& m, PlaceInGroup<ValueOf<M>> at, ValueOf<M> threads,
                                   ValueOf<M> rows, ValueOf<M> blocks, unsigned lanes) {
  using Value = ValueOf<M>;
  const Value group = m.add(m.div(m.number(lanes - 1), rows), m.number(1));
  const Value in_group = m.rem(at.block, group);
  const Value first = m.sub(at.block, in_group);
  const Value all = m.mul(m.min(m.sub(blocks, first), group), rows);
  const Value n = m.add(m.mul(m.add(m.mul(in_group, rows), at.row), threads), at.x);
  const Value x = m.div(n, all);
  const Value row = m.sub(n, m.mul(x, all));
  const Value block = m.div(row, rows);
  return {x, m.sub(row, m.mul(block, rows)), m.add(first, block)};
}

} // namespace ptxasw::passes
