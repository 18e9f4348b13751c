// What compilers make seldom, or only of code that does more than load neighbours: indices that are
// clamped, wrapped, cut out of bits or loaded, predicates of predicates, tables of branches, loops
// that are left in the middle, words of a thread's own in several widths, pointers that are chosen.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

void KernelMaker::odd(unsigned depth, bool divergent) {
  switch (w_.below(depth < 3 ? 13 : 9)) {
  case 0:
  case 1:
  case 2: odd_index(); break;
  case 3: own_words(); break;
  case 4: chosen_pointer(); break;
  case 5: odd_arithmetic(); break;
  case 6: halves(); break;
  case 7: tables(); break;
  case 8: own_words(); break;
  case 9: cases(depth, divergent); break;
  case 10: loop_with_break(depth, divergent); break;
  case 11: generic_march(); break;
  default: leave_early(); break;
  }
}

// An index made of another one by other means than sums and products with constants.
void KernelMaker::odd_index() {
  const std::string r = w_.fresh(Class::b32), a = w_.pick(indices_), t = w_.fresh(Class::b32);
  const auto bound = [&] { // of the result, which may be anything
    w_.line("and.b32 {}, {}, {};", r, r, w_.pick({1023, 4095, 63}));
  };
  switch (w_.below(31)) {
  case 0: w_.line("max.s32 {}, {}, {};", r, a, w_.between(-2, 40)); break;
  case 1: w_.line("min.{} {}, {}, {};", sign(), r, a, w_.between(0, 2000)); break;
  case 2:
    w_.line("add.s32 {}, {}, -1;", t, n_);
    w_.line("min.s32 {}, {}, {};", r, a, t);
    w_.line("max.s32 {}, {}, 0;", r, r);
    break;
  case 3: { // periodic
    const std::string p = w_.fresh(Class::pred);
    w_.line("setp.ge.s32 {}, {}, {};", p, a, n_);
    w_.line("sub.s32 {}, {}, {};", t, a, n_);
    w_.line("selp.b32 {}, {}, {}, {};", r, t, a, p);
    break;
  }
  case 4:
    w_.line("or.b32 {}, {}, 1;", t, n_);
    w_.line("rem.{} {}, {}, {};", sign(), r, a, t);
    break;
  case 5: w_.line("rem.{} {}, {}, {};", sign(), r, a, w_.between(1, 40)); break;
  case 6: w_.line("div.{} {}, {}, {};", sign(), r, a, w_.between(1, 5)); break;
  case 7: w_.line("and.b32 {}, {}, {};", r, a, w_.pick({-2, -8, 1023, 31, 4080})); break;
  case 8: w_.line("or.b32 {}, {}, {};", r, a, w_.below(9)); break;
  case 9: w_.line("xor.b32 {}, {}, {};", r, a, w_.below(9)); break;
  case 10: w_.line("bfe.{} {}, {}, {}, {};", sign(), r, a, w_.below(5), w_.below(14)); break;
  case 11:
    w_.line("bfi.b32 {}, {}, {}, {}, {};", r, a, x_, w_.below(6), w_.below(9));
    bound();
    break;
  case 12:
    w_.line("lop3.b32 {}, {}, {}, {}, {};", r, a, x_, n_, w_.below(256));
    bound();
    break;
  case 13:
    w_.line("prmt.b32 {}, {}, {}, {};", r, a, x_, w_.below(65536));
    bound();
    break;
  case 14:
    w_.line("shf.{}.{}.b32 {}, {}, {}, {};", w_.pick<std::string_view>({"l", "r"}),
            w_.pick<std::string_view>({"wrap", "clamp"}), r, a, x_, w_.below(34));
    bound();
    break;
  case 15: w_.line("sad.{} {}, {}, {}, {};", sign(), r, a, x_, w_.below(20)); break;
  case 16: w_.line("mul.hi.{} {}, {}, {};", sign(), r, a, 1U << w_.between(28, 31)); break;
  case 17: w_.line("mad24.lo.{} {}, {}, {}, {};", sign(), r, a, w_.between(1, 3), x_); break;
  case 18: {
    const std::string h = w_.fresh(Class::b16), k = w_.fresh(Class::b16);
    w_.line("cvt.u16.u32 {}, {};", h, a);
    w_.line("add.{}16 {}, {}, {};", w_.pick({'s', 'u'}), k, h, w_.between(-3, 3));
    if (w_.one_in(2))
      w_.line("cvt.{}32.{}16 {}, {};", w_.pick({'s', 'u'}), w_.pick({'s', 'u'}), r, k);
    else
      w_.line("mul.wide.{0}16 {1}, {2}, {3};", w_.pick({'s', 'u'}), r, k, w_.between(1, 3));
    break;
  }
  case 19: {
    const std::string wide = w_.fresh(Class::b64), sum = w_.fresh(Class::b64);
    w_.line("mul.wide.{} {}, {}, {};", sign(), wide, a, w_.between(1, 2));
    w_.line("add.s64 {}, {}, {};", sum, wide, w_.between(-4, 4));
    if (w_.one_in(2)) w_.line("shr.{}64 {}, {}, {};", w_.pick({'s', 'u'}), sum, sum, w_.below(3));
    w_.line("cvt.u32.u64 {}, {};", r, sum);
    break;
  }
  case 20: {
    const std::string both = w_.fresh(Class::b64);
    w_.line("mov.b64 {}, {{{}, {}}};", both, x_, a);
    w_.line("mov.b64 {{{}, {}}}, {};", t, r, both);
    break;
  }
  case 21: {
    const std::string lo = w_.fresh(Class::b16), hi = w_.fresh(Class::b16);
    w_.line("mov.b32 {{{}, {}}}, {};", lo, hi, a);
    w_.line("mov.b32 {}, {{{}, {}}};", r, lo, w_.one_in(2) ? lo : hi);
    bound();
    break;
  }
  case 22: { // loaded, and a neighbour of that
    w_.line("and.b32 {}, {}, 4095;", t, a);
    w_.line("ld.global{}.u32 {}, [{}];", w_.one_in(2) ? ".nc" : "", t,
            address(w_.pick(inputs_), t, 4));
    w_.line("and.b32 {}, {}, {};", r, t, w_.one_in(2) ? 4095 : 15);
    if (w_.one_in(2)) w_.line("add.s32 {}, {}, {};", r, r, x_);
    break;
  }
  case 23: {
    const std::string f = w_.fresh(Class::f32);
    w_.line("cvt.rn.f32.s32 {}, {};", f, a);
    w_.line("fma.rn.f32 {}, {}, 0f3F800000, 0f{:08X};", f, f, 0x3e000000 + w_.below(0x2000000));
    w_.line("cvt.rzi.s32.f32 {}, {};", r, f);
    break;
  }
  case 24: { // moved where a condition holds
    const std::string p = w_.fresh(Class::pred);
    w_.line("mov.u32 {}, {};", r, a);
    odd_condition(p);
    w_.line("@{}{} add.s32 {}, {}, {};", w_.one_in(2) ? "!" : "", p, r, r, w_.between(-2, 2));
    break;
  }
  case 25: { // only some low bits go on: it wraps among them
    const std::int64_t k = w_.between(18, 25);
    w_.line("shl.b32 {}, {}, {};", t, a, k);
    w_.line("shr.{} {}, {}, {};", sign(), r, t, k);
    break;
  }
  case 26: // a third, as compilers divide
    w_.line("mul.hi.u32 {}, {}, -1431655765;", t, a);
    w_.line("shr.u32 {}, {}, 1;", r, t);
    break;
  case 27: // the other way
    if (w_.one_in(2))
      w_.line("sub.s32 {}, {}, {};", r, w_.between(1500, 3000), a);
    else
      w_.line("mad.lo.s32 {}, {}, -1, {};", r, a, w_.between(1500, 3000));
    break;
  case 28: // beside 2^31, which mostly lies among the elements
    w_.line("add.s32 {}, {}, {};", t, a, 2147482600 + w_.between(0, 64));
    w_.line("{}.{} {}, {}, {};", w_.pick<std::string_view>({"max", "min"}), sign(), r, t,
            w_.one_in(2) ? "0" : "2147483640");
    bound();
    break;
  case 29: { // and in 64 bits
    const std::string wide = w_.fresh(Class::b64);
    w_.line("add.s32 {}, {}, {};", t, a, 2147482600 + w_.between(0, 64));
    w_.line("cvt.{}64.{}32 {}, {};", w_.pick({'s', 'u'}), w_.pick({'s', 'u'}), wide, t);
    w_.line("shr.{}64 {}, {}, {};", w_.pick({'s', 'u'}), wide, wide, w_.below(3));
    w_.line("cvt.u32.u64 {}, {};", r, wide);
    bound();
    break;
  }
  default: { // through the carry flag
    const std::string high = w_.fresh(Class::b32);
    w_.line("add.cc.u32 {}, {}, {};", t, a, w_.one_in(2) ? -1 : 5);
    w_.line("addc.u32 {}, 0, 0;", high);
    w_.line("add.s32 {}, {}, {};", r, t, high);
    break;
  }
  }
  indices_.push_back(r);
  ints_.push_back(r);
  if (w_.one_in(2)) group();
}

// A predicate made of several; whether lanes disagree is not told.
void KernelMaker::odd_condition(const std::string& p) {
  const std::string q = w_.fresh(Class::pred), s = w_.fresh(Class::pred);
  condition(q);
  const std::string a = w_.pick(ints_), b = w_.pick(ints_);
  const std::string_view compare =
      w_.pick<std::string_view>({"eq.u32", "ne.s32", "lt.s32", "le.u32", "gt.s32", "ge.u32",
                                 "hi.u32", "ls.u32", "lo.u32", "hs.u32"});
  const std::size_t dot = compare.find('.');
  switch (w_.below(8)) {
  case 0:
    w_.line("setp.{}.{}{} {}, {}, {}, {}{};", compare.substr(0, dot),
            w_.pick<std::string_view>({"and", "or", "xor"}), compare.substr(dot), p, a, b,
            w_.one_in(2) ? "!" : "", q);
    break;
  case 1:
    w_.line("setp.{} {}|{}, {}, {};", compare, s, p, a, b);
    w_.line("{}.pred {}, {}, {};", w_.pick<std::string_view>({"and", "or", "xor"}), p, p, q);
    break;
  case 2: w_.line("not.pred {}, {};", p, q); break;
  case 3:
    w_.line("mov.pred {}, {};", p, q);
    w_.line("@{} setp.{} {}, {}, {};", q, compare, p, a, b);
    break;
  case 4: {
    const std::string wide = w_.fresh(Class::b64);
    w_.line("cvt.s64.s32 {}, {};", wide, a);
    w_.line("setp.{}.s64 {}, {}, {};", w_.pick<std::string_view>({"lt", "ge", "eq"}), p, wide,
            w_.between(-4, 40));
    break;
  }
  case 5: {
    const std::string h = w_.fresh(Class::b16);
    w_.line("cvt.u16.u32 {}, {};", h, a);
    w_.line("setp.{}.{}16 {}, {}, {};", w_.pick<std::string_view>({"lt", "ge", "ne"}),
            w_.pick({'s', 'u'}), p, h, w_.between(0, 40));
    break;
  }
  case 6: {
    const std::string r = w_.fresh(Class::b32);
    w_.line("set.{}.u32{} {}, {}, {};", compare.substr(0, dot), compare.substr(dot), r, a, b);
    w_.line("setp.ne.or.u32 {}, {}, 0, {};", p, r, q);
    break;
  }
  default:
    w_.line("setp.{}.f32 {}, {}, {};",
            w_.pick<std::string_view>({"ltu", "num", "nan", "geu", "equ", "neu", "gt"}), p,
            w_.pick(floats_), facc_);
    break;
  }
}

// Four words of a thread's own behind the words of all, stored and loaded in several widths.
void KernelMaker::own_words() {
  const auto offset = [&](unsigned bytes) { return 16384 + w_.below(16 / bytes) * bytes; };
  const std::uint64_t count = 1 + w_.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool stores = w_.one_in(2);
    const std::string prefix = predicated();
    switch (w_.below(4)) {
    case 0: {
      const std::string r = w_.fresh(Class::b32);
      w_.line("mov.u32 {}, {};", r, stores ? acc_ : "3");
      if (stores)
        w_.line("{}st.global.u{} [{}+{}], {};", prefix, 8, own_, offset(1), r);
      else
        w_.line("{}ld.global.{}8 {}, [{}+{}];", prefix, w_.pick({'s', 'u'}), r, own_, offset(1));
      if (!stores) consume(r, Class::b32);
      break;
    }
    case 1: {
      const std::string r = w_.fresh(Class::b32), s = w_.fresh(Class::b32);
      w_.line("mov.u32 {}, 3;", r);
      w_.line("xor.b32 {}, {}, 77;", s, acc_);
      if (stores)
        w_.line("{}st.global.v2.u32 [{}+{}], {{{}, {}}};", prefix, own_, offset(8), s, acc_);
      else
        w_.line("{}ld.global.v2.u32 {{{}, {}}}, [{}+{}];", prefix, s, r, own_, offset(8));
      if (!stores) consume(s, Class::b32);
      if (!stores) consume(r, Class::b32);
      break;
    }
    case 2: {
      const std::string r = w_.fresh(Class::b16);
      w_.line("cvt.u16.u32 {}, {};", r, acc_);
      if (stores)
        w_.line("{}st.global.b16 [{}+{}], {};", prefix, own_, offset(2), r);
      else
        w_.line("{}ld.global.b16 {}, [{}+{}];", prefix, r, own_, offset(2));
      if (!stores) consume(r, Class::b16);
      break;
    }
    default: {
      const std::string r = w_.fresh(Class::b32);
      w_.line("mov.u32 {}, 5;", r);
      if (stores)
        w_.line("{}st.global.u32 [{}+{}], {};", prefix, own_, offset(4), acc_);
      else
        w_.line("{}ld.global.u32 {}, [{}+{}];", prefix, r, own_, offset(4));
      if (!stores) consume(r, Class::b32);
    }
    }
  }
}

void KernelMaker::own_pointer() {
  own_ = w_.fresh(Class::b64);
  w_.line("mad.wide.u32 {}, {}, 16, {};", own_, linear_, in_place_);
}

// One of two arrays, or the same one shifted.
void KernelMaker::chosen_pointer() {
  const std::string r = w_.fresh(Class::b64), p = w_.fresh(Class::pred);
  const std::string& a = w_.pick(inputs_);
  if (w_.one_in(2)) {
    condition(p);
    w_.line("selp.b64 {}, {}, {}, {};", r, a, w_.pick(inputs_), p);
  } else if (w_.one_in(2)) {
    w_.line("mov.b64 {}, {};", r, a);
    odd_condition(p);
    w_.line("@{} add.s64 {}, {}, {};", p, r, r, w_.pick({4, 8, 64, 400}));
  } else {
    w_.line("mad.wide.u32 {}, {}, {}, {};", r,
            special(w_.pick<std::string_view>({"ctaid.x", "ctaid.y", "tid.y"})),
            w_.pick({4, 8, 64}), a);
  }
  inputs_.push_back(r);
  group();
  group();
  inputs_.pop_back();
}

void KernelMaker::odd_arithmetic() {
  const std::string r = w_.fresh(Class::b32), a = w_.pick(ints_), b = w_.pick(ints_),
                    p = w_.fresh(Class::pred);
  switch (w_.below(9)) {
  case 0: w_.line("slct.s32.s32 {}, {}, {}, {};", r, a, b, x_); break;
  case 1: w_.line("dp4a.{0}.{0} {1}, {2}, {3}, {4};", sign(), r, a, b, acc_); break;
  case 2: w_.line("popc.b32 {}, {};", r, a); break;
  case 3: w_.line("bfind.{} {}, {};", sign(), r, a); break;
  case 4: w_.line("brev.b32 {}, {};", r, a); break;
  case 5: w_.line("clz.b32 {}, {};", r, a); break;
  case 6:
    odd_condition(p);
    w_.line("selp.b32 {}, {}, {}, {};", r, a, b, p);
    break;
  case 7:
    odd_condition(p);
    w_.line("mov.u32 {}, {};", r, a);
    w_.line("@{} mad.lo.s32 {}, {}, 3, {};", p, r, r, b);
    break;
  default: w_.line("vabsdiff.s32.s32.s32 {}, {}, {};", r, a, b); break;
  }
  consume(r, Class::b32);
}

// Two halves of a word.
void KernelMaker::halves() {
  const std::string a = w_.fresh(Class::b32), b = w_.fresh(Class::b32), r = w_.fresh(Class::b32);
  const std::string at = address(w_.pick(inputs_), w_.pick(indices_), 4);
  w_.line("ld.global{}.b32 {}, [{}];", w_.one_in(2) ? ".nc" : "", a, at);
  w_.line("ld.global{}.b32 {}, [{}+{}];", w_.one_in(2) ? ".L1::no_allocate" : "", b, at,
          w_.pick({-4, 0, 4, 8}));
  switch (w_.below(5)) {
  case 0: w_.line("fma.rn.f16x2 {}, {}, {}, {};", r, a, b, a); break;
  case 1: w_.line("add.f16x2 {}, {}, {};", r, a, b); break;
  case 2: w_.line("mul.bf16x2 {}, {}, {};", r, a, b); break;
  case 3: w_.line("max.f16x2 {}, {}, {};", r, a, b); break;
  default: w_.line("fma.rn.relu.f16x2 {}, {}, {}, {};", r, a, b, b); break;
  }
  consume(r, Class::b32);
}

// Constant memory and an array of the thread's own.
void KernelMaker::tables() {
  table_ = true;
  const std::string i = w_.fresh(Class::b32), at = w_.fresh(Class::b64),
                    wide = w_.fresh(Class::b64), r = w_.fresh(Class::b32), q = w_.fresh(Class::b32);
  w_.line("and.b32 {}, {}, 7;", i, w_.pick(indices_));
  w_.line("mul.wide.u32 {}, {}, 4;", wide, i);
  w_.line("mov.u64 {}, table;", at);
  w_.line("add.s64 {}, {}, {};", at, at, wide);
  w_.line("ld.const.u32 {}, [{}];", r, at);
  w_.line("ld.const.u32 {}, [{}+4];", q, at);
  consume(r, Class::b32);
  consume(q, Class::b32);
  if (calm_ && !w_.one_in(3)) return;
  local_ = true;
  const std::string own = w_.fresh(Class::b64), own_at = w_.fresh(Class::b64),
                    v = w_.fresh(Class::b32);
  w_.line("mov.u64 {}, frame;", own);
  w_.line("add.s64 {}, {}, {};", own_at, own, wide);
  w_.line("st.local.v2.u32 [{}], {{{}, {}}};", own, acc_, r);
  w_.line("st.local.v4.u32 [{}+16], {{{}, {}, {}, {}}};", own, acc_, q, r, acc_);
  w_.line("st.local.v2.u32 [{}+8], {{{}, {}}};", own, r, acc_);
  w_.line("st.local.u32 [{}], {};", own_at, acc_);
  w_.line("ld.local.u32 {}, [{}+{}];", v, own, 4 * w_.below(8));
  consume(v, Class::b32);
  w_.line("ld.local.u32 {}, [{}];", v, own_at);
  consume(v, Class::b32);
}

// A switch.
void KernelMaker::cases(unsigned depth, bool divergent) {
  const std::string i = w_.fresh(Class::b32), targets = w_.label(), end = w_.label();
  std::vector<std::string> ways;
  for (int k = 0; k < 4; ++k)
    ways.push_back(w_.one_in(4) && k != 0 ? ways[0] : w_.label());
  const bool uniform = w_.one_in(2);
  w_.line("and.b32 {}, {}, 3;", i, uniform ? n_ : w_.pick(ints_));
  w_.line("{}: .branchtargets {}, {}, {}, {};", targets, ways[0], ways[1], ways[2], ways[3]);
  w_.line("brx.idx {}, {};", i, targets);
  for (std::size_t k = 0; k < ways.size(); ++k) {
    if (k != 0 && ways[k] == ways[0]) continue;
    w_.line("{}:", ways[k]);
    block(depth, divergent || !uniform);
    if (!w_.one_in(4)) w_.line("bra {};", end);
  }
  w_.line("{}:", end);
}

// Left in the middle, or begun again from there.
void KernelMaker::loop_with_break(unsigned depth, bool divergent) {
  const std::string i = w_.fresh(Class::b32), p = w_.fresh(Class::pred), q = w_.fresh(Class::pred),
                    head = w_.label(), end = w_.label(), next = w_.label();
  w_.line("mov.u32 {}, 0;", i);
  const std::string moving = w_.fresh(Class::b64);
  const std::string& base = w_.pick(inputs_);
  w_.line("mov.b64 {}, {};", moving, address(base, w_.pick(indices_), 4));
  w_.line("{}:", head);
  const bool agree = !condition(q);
  ints_.push_back(i);
  indices_.push_back(i);
  inputs_.push_back(moving);
  block(depth, divergent || !agree);
  w_.line("@{}{} bra {};", w_.one_in(2) ? "!" : "", q, w_.one_in(2) ? end : next);
  block(depth, divergent || !agree);
  inputs_.pop_back();
  indices_.pop_back();
  ints_.pop_back();
  w_.line("{}:", next);
  w_.line("add.u32 {}, {}, {};", i, i, w_.pick({1, 2}));
  w_.line("add.s64 {}, {}, {};", moving, moving, w_.pick({4, -4, 40, 8}));
  w_.line("setp.lt.u32 {}, {}, {};", p, i, w_.between(1, 4));
  w_.line("@{} bra {};", p, head);
  w_.line("{}:", end);
}

// Along words of the thread's own, in shared or in global memory, by a generic address; what is
// stored goes there by its name.
void KernelMaker::generic_march() {
  words_ = true;
  const std::string at = w_.fresh(Class::b32), number = w_.fresh(Class::b32),
                    row = w_.fresh(Class::b32), by = w_.fresh(Class::b64),
                    wide = w_.fresh(Class::b64), q = w_.fresh(Class::pred),
                    i = w_.fresh(Class::b32), p = w_.fresh(Class::pred), head = w_.label();
  w_.line("mad.lo.s32 {}, {}, {}, {};", row, special("tid.z"), special("ntid.y"), special("tid.y"));
  w_.line("mad.lo.s32 {}, {}, {}, {};", number, row, special("ntid.x"), special("tid.x"));
  w_.line("and.b32 {}, {}, 127;", number, number);
  w_.line("mov.u32 {}, words;", at);
  w_.line("mad.lo.s32 {}, {}, 16, {};", at, number, at);
  w_.line("st.shared.v4.u32 [{}], {{{}, {}, {}, {}}};", at, x_, n_, acc_, n_);
  w_.line("cvt.u64.u32 {}, {};", wide, at);
  w_.line("cvta.shared.u64 {}, {};", by, wide);
  if (w_.one_in(3)) {
    odd_condition(q);
    w_.line("add.s64 {}, {}, 16384;", wide, own_);
    w_.line("selp.b64 {0}, {0}, {1}, {2};", by, wide, q);
  }
  w_.line("mov.u32 {}, 0;", i);
  w_.line("{}:", head);
  const std::string a = w_.fresh(Class::b32), b = w_.fresh(Class::b32);
  w_.line("ld.u32 {}, [{}+4];", a, by);
  w_.line("ld.u32 {}, [{}];", b, by);
  consume(a, Class::b32);
  consume(b, Class::b32);
  switch (w_.below(4)) {
  case 0: w_.line("st.shared.u32 [{}+4], {};", at, acc_); break;
  case 1: w_.line("st.shared.u32 [{}], {};", at, acc_); break;
  case 2: w_.line("st.u32 [{}+4], {};", by, acc_); break;
  default: break;
  }
  w_.line("add.s64 {0}, {0}, 4;", by);
  w_.line("add.s32 {0}, {0}, 4;", at);
  w_.line("add.s32 {0}, {0}, 1;", i);
  w_.line("setp.lt.s32 {}, {}, {};", p, i, w_.between(1, 3));
  w_.line("@{} bra {};", p, head);
}

void KernelMaker::leave_early() {
  const std::string p = w_.fresh(Class::pred);
  odd_condition(p);
  early_exit_ = true;
  store();
  w_.line("@{} {};", p, w_.pick<std::string_view>({"ret", "exit", "bra END"}));
}

} // namespace ptxasw::fuzz
