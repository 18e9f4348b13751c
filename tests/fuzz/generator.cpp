// A kernel is a prologue (where this thread is), an optional guard, and a tree of statements:
// groups of neighbouring loads, arithmetic, stores, branches, loops, barriers, shared memory,
// atomics. Registers live in pools; what a nested block defines goes out of scope with it, so that
// nothing undefined is read.
#include "fuzz/generator.hpp"

#include "fuzz/writer.hpp"

namespace ptxasw::fuzz {

namespace {

// How an element is loaded.
struct Element {
  std::string_view type; // as in ld.global.TYPE
  unsigned bytes;        // of one element
  Class reg;             // that receives it
};
constexpr Element elements[] = {
    {"f32", 4, Class::f32}, {"f32", 4, Class::f32}, {"f32", 4, Class::f32}, {"u32", 4, Class::b32},
    {"s32", 4, Class::b32}, {"b32", 4, Class::b32}, {"f64", 8, Class::f64}, {"u64", 8, Class::b64},
    {"u16", 2, Class::b16}, {"s16", 2, Class::b32}, {"u8", 1, Class::b16},  {"s8", 1, Class::b32},
    {"u16", 2, Class::b32}, {"u8", 1, Class::b32},
};

class Generator {
public:
  explicit Generator(std::uint64_t seed) : w_(seed) {}

  std::string run() {
    prologue();
    guard();
    const auto statements = static_cast<unsigned>(2 + w_.below(5));
    for (unsigned i = 0; i < statements; ++i)
      statement(0, false);
    group();
    store();
    w_.line("END: ret;");
    return fmt::format(".version 8.0\n.target sm_90\n.address_size 64\n{}{}"
                       ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, "
                       ".param .u64 out, .param .u32 n, .param .u32 m)\n{{\n{}{}}}\n",
                       shared_ ? ".shared .align 16 .b8 tile[8192];\n" : "",
                       function_ ? function_text : "", w_.declarations(), w_.body());
  }

private:
  static constexpr std::string_view function_text =
      ".func (.param .b32 r) twist(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n"
      "xor.b32 %r2, %r1, 5;\nst.param.b32 [r], %r2;\nret;\n}\n";

  // ---- Where this thread is ----

  std::string special(std::string_view name) {
    const std::string r = w_.fresh(Class::b32);
    w_.line("mov.u32 {}, %{};", r, name);
    return r;
  }

  // Global position along an axis: the product of block and block size, plus the thread.
  std::string position(char axis) {
    const std::string tid = special(fmt::format("tid.{}", axis));
    const std::string cta = special(fmt::format("ctaid.{}", axis));
    const std::string size = special(fmt::format("ntid.{}", axis));
    const std::string r = w_.fresh(Class::b32);
    if (w_.one_in(3)) {
      const std::string product = w_.fresh(Class::b32);
      w_.line("mul.lo.{} {}, {}, {};", sign(), product, size, cta);
      w_.line("add.{} {}, {}, {};", sign(), r, tid, product);
    } else {
      w_.line("mad.lo.{} {}, {}, {}, {};", sign(), r, cta, size, tid);
    }
    return r;
  }

  std::string extent(char axis) {
    const std::string size = special(fmt::format("ntid.{}", axis));
    const std::string count = special(fmt::format("nctaid.{}", axis));
    const std::string r = w_.fresh(Class::b32);
    w_.line("mul.lo.s32 {}, {}, {};", r, size, count);
    return r;
  }

  std::string pointer(std::string_view name) {
    const std::string raw = w_.fresh(Class::b64);
    w_.line("ld.param.u64 {}, [{}];", raw, name);
    if (w_.one_in(4)) {
      w_.line("cvta.to.global.u64 {}, {};", raw, raw);
      return raw;
    }
    const std::string r = w_.fresh(Class::b64);
    w_.line("cvta.to.global.u64 {}, {};", r, raw);
    return r;
  }

  void prologue() {
    inputs_ = {pointer("a"), pointer("b")};
    in_place_ = pointer("c");
    out_ = pointer("out");
    n_ = w_.fresh(Class::b32);
    m_ = w_.fresh(Class::b32);
    w_.line("ld.param.u32 {}, [n];", n_);
    w_.line("ld.param.u32 {}, [m];", m_);
    x_ = position('x');
    y_ = position('y');
    const std::string z = position('z');
    // The number of this thread in the whole grid: no two threads have the same.
    const std::string width = extent('x'), height = extent('y'), depth = extent('z');
    const std::string row = w_.fresh(Class::b32), area = w_.fresh(Class::b32);
    linear_ = w_.fresh(Class::b32);
    total_ = w_.fresh(Class::b32);
    w_.line("mad.lo.s32 {}, {}, {}, {};", row, z, height, y_);
    w_.line("mad.lo.s32 {}, {}, {}, {};", linear_, row, width, x_);
    w_.line("mul.lo.s32 {}, {}, {};", area, width, height);
    w_.line("mul.lo.s32 {}, {}, {};", total_, area, depth);
    ints_ = {x_, y_, n_, linear_};
    floats_.push_back(constant_float());
    doubles_.push_back(constant_double());
    acc_ = w_.fresh(Class::b32);
    facc_ = w_.fresh(Class::f32);
    dacc_ = w_.fresh(Class::f64);
    w_.line("mov.u32 {}, {};", acc_, w_.below(100));
    w_.line("mov.f32 {}, 0f3F800000;", facc_);
    w_.line("mov.f64 {}, 0d3FF0000000000000;", dacc_);
    base_index_ = make_index(z);
    indices_.push_back(base_index_);
    if (w_.one_in(2)) indices_.push_back(make_index(z));
    if (w_.one_in(3)) indices_.push_back(x_);
  }

  // A 32-bit index into an input: mostly along x, so that neighbours are lanes.
  std::string make_index(const std::string& z) {
    const std::string r = w_.fresh(Class::b32);
    switch (w_.below(8)) {
    case 0: w_.line("mov.u32 {}, {};", r, x_); break;
    case 1: w_.line("mad.lo.s32 {}, {}, {}, {};", r, x_, n_, y_); break; // transposed
    case 2: w_.line("mad.lo.{} {}, {}, {}, {};", sign(), r, x_, w_.between(2, 3), y_); break;
    case 3: {
      const std::string plane = w_.fresh(Class::b32);
      w_.line("mad.lo.s32 {}, {}, {}, {};", plane, z, m_, y_);
      w_.line("mad.lo.s32 {}, {}, {}, {};", r, plane, n_, x_);
      break;
    }
    case 4: w_.line("mov.u32 {}, %tid.x;", r); break;
    default: w_.line("mad.lo.{} {}, {}, {}, {};", sign(), r, y_, n_, x_); break;
    }
    if (w_.one_in(3)) w_.line("add.s32 {}, {}, {};", r, r, w_.between(-3, 3));
    return r;
  }

  void guard() {
    if (w_.one_in(4)) return;
    const std::string p = w_.fresh(Class::pred);
    const std::uint64_t kind = w_.below(4);
    early_exit_ = kind != 2;
    switch (kind) {
    case 0: w_.line("setp.ge.{} {}, {}, {};", sign(), p, x_, n_); break;
    case 1: {
      const std::string q = w_.fresh(Class::pred);
      w_.line("setp.lt.s32 {}, {}, 1;", q, x_);
      w_.line("setp.ge.or.s32 {}, {}, {}, {};", p, x_, n_, q);
      break;
    }
    case 2: w_.line("setp.ge.u32 {}, {}, {};", p, linear_, total_); break; // never
    default: {
      const std::string last = w_.fresh(Class::b32);
      w_.line("add.s32 {}, {}, -{};", last, n_, w_.between(1, 3));
      w_.line("setp.gt.s32 {}, {}, {};", p, x_, last);
    }
    }
    if (w_.one_in(2))
      w_.line("@{} ret;", p);
    else
      w_.line("@{} bra END;", p);
  }

  // ---- Statements ----

  void statement(unsigned depth, bool divergent) {
    switch (w_.below(depth < 3 ? 20 : 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: group(); break;
    case 5:
    case 6: arithmetic(); break;
    case 7: store(); break;
    case 8: in_place(); break;
    case 9: synchronize(divergent); break;
    case 10: atomic(); break;
    case 11: overwrite(); break;
    case 12:
    case 13:
    case 14: branch(depth, divergent); break;
    case 15:
    case 16:
    case 17: loop(depth, divergent); break;
    case 18: divergent || early_exit_ ? arithmetic() : through_shared(); break;
    default: call(); break;
    }
  }

  void block(unsigned depth, bool divergent) {
    const auto ints = ints_.size(), floats = floats_.size(), doubles = doubles_.size(),
               indices = indices_.size();
    const std::uint64_t count = 1 + w_.below(3);
    for (std::uint64_t i = 0; i < count; ++i)
      statement(depth + 1, divergent);
    ints_.resize(ints);
    floats_.resize(floats);
    doubles_.resize(doubles);
    indices_.resize(indices);
  }

  // A predicate, and whether lanes of a warp may disagree on it.
  bool condition(const std::string& p) {
    switch (w_.below(6)) {
    case 0: w_.line("setp.gt.s32 {}, {}, {};", p, n_, w_.between(0, 40)); return false;
    case 1: {
      const std::string cta = special("ctaid.x"), bit = w_.fresh(Class::b32);
      w_.line("and.b32 {}, {}, 1;", bit, cta);
      w_.line("setp.eq.u32 {}, {}, 0;", p, bit);
      return false;
    }
    case 2: w_.line("setp.lt.{} {}, {}, {};", sign(), p, x_, w_.between(1, 40)); return true;
    case 3: w_.line("setp.ne.s32 {}, {}, {};", p, w_.pick(ints_), w_.between(0, 9)); return true;
    case 4: w_.line("setp.lt.f32 {}, {}, 0f00000000;", p, w_.pick(floats_)); return true;
    default: {
      const std::string bits = w_.fresh(Class::b32);
      w_.line("and.b32 {}, {}, {};", bits, x_, w_.between(1, 16));
      w_.line("setp.eq.u32 {}, {}, 0;", p, bits);
      return true;
    }
    }
  }

  void branch(unsigned depth, bool divergent) {
    const std::string p = w_.fresh(Class::pred), skip = w_.label();
    const bool here = condition(p);
    w_.line("@{}{} bra {};", w_.one_in(2) ? "!" : "", p, skip);
    block(depth, divergent || here);
    if (w_.one_in(3)) {
      const std::string end = w_.label();
      w_.line("bra {};", end);
      w_.line("{}:", skip);
      block(depth, divergent || here);
      w_.line("{}:", end);
    } else {
      w_.line("{}:", skip);
    }
  }

  void loop(unsigned depth, bool divergent) {
    const std::string i = w_.fresh(Class::b32), limit = w_.fresh(Class::b32),
                      p = w_.fresh(Class::pred), head = w_.label(), end = w_.label();
    bool here = false;
    switch (w_.below(4)) {
    case 0: w_.line("and.b32 {}, {}, 3;", limit, n_); break; // may be zero
    case 1:
      w_.line("and.b32 {}, {}, 3;", limit, x_);
      here = true;
      break;
    default: w_.line("mov.u32 {}, {};", limit, w_.between(1, 3)); break;
    }
    w_.line("mov.u32 {}, 0;", i);
    // An index that the loop moves: by one, or by a row.
    const std::string moving = w_.fresh(Class::b32);
    w_.line("mov.u32 {}, {};", moving, w_.pick(indices_));
    const bool tested_first = w_.one_in(2);
    w_.line("{}:", head);
    if (tested_first) {
      w_.line("setp.ge.u32 {}, {}, {};", p, i, limit);
      w_.line("@{} bra {};", p, end);
    }
    indices_.push_back(moving);
    ints_.push_back(i);
    block(depth, divergent || here);
    ints_.pop_back();
    indices_.pop_back();
    w_.line("add.s32 {}, {}, {};", moving, moving, w_.one_in(2) ? std::string("1") : n_);
    w_.line("add.u32 {}, {}, 1;", i, i);
    if (tested_first) {
      w_.line("bra {};", head);
    } else {
      w_.line("setp.lt.u32 {}, {}, {};", p, i, limit);
      w_.line("@{} bra {};", p, head);
    }
    w_.line("{}:", end);
  }

  // ---- Loads ----

  // base + index * bytes, in one of the ways that compilers write it.
  std::string address(const std::string& base, const std::string& index, unsigned bytes) {
    const std::string r = w_.fresh(Class::b64), scaled = w_.fresh(Class::b64);
    const unsigned shift = bytes == 16 ? 4 : bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    switch (w_.below(6)) {
    case 0: w_.line("mad.wide.{} {}, {}, {}, {};", sign(), r, index, bytes, base); return r;
    case 1: {
      const std::string s = sign();
      w_.line("cvt.{}64.{} {}, {};", s[0], s, scaled, index);
      w_.line("shl.b64 {}, {}, {};", scaled, scaled, shift);
      break;
    }
    case 2: {
      const std::string s = w_.fresh(Class::b32);
      w_.line("shl.b32 {}, {}, {};", s, index, shift); // may wrap in 32 bits
      w_.line("cvt.s64.s32 {}, {};", scaled, s);
      break;
    }
    default: w_.line("mul.wide.{} {}, {}, {};", w_.one_in(3) ? "u32" : "s32", scaled, index, bytes);
    }
    w_.line("add.{} {}, {}, {};", w_.one_in(2) ? "s64" : "u64", r, base, scaled);
    return r;
  }

  std::string qualifiers(bool read_only) {
    switch (w_.below(read_only ? 14 : 10)) {
    case 0: return ".ca";
    case 1: return ".cg";
    case 2: return w_.one_in(2) ? ".cs" : ".cv";
    case 10:
    case 11:
    case 12:
    case 13: return ".nc";
    default: return "";
    }
  }

  // Several loads around one place.
  void group() {
    const bool read_only = !w_.one_in(6);
    const std::string base = read_only ? w_.pick(inputs_) : in_place_;
    const std::string index = read_only ? w_.pick(indices_) : linear_;
    // Of the words that are stored in place a thread reads only its own.
    const Element element =
        read_only ? elements[w_.below(std::size(elements))] : Element{"u32", 4, Class::b32};
    const unsigned vector = !read_only ? 1
                            : w_.one_in(8) && element.bytes >= 4
                                ? (element.bytes == 8 ? 2 : w_.pick({2U, 4U}))
                                : 1;
    const unsigned bytes = element.bytes * vector;
    const std::string at = address(base, index, bytes);
    const std::uint64_t count = read_only ? 2 + w_.below(3) : 1;
    const std::string qualifier = qualifiers(read_only);
    const bool is_volatile = w_.one_in(24);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t k = read_only ? w_.between(-2, 3) : 0;
      const std::string how = is_volatile ? ".volatile.global"
                                          : fmt::format(".global{}", w_.one_in(6) ? "" : qualifier);
      if (w_.one_in(5) && read_only) {
        // The neighbour's index is computed on its own: it may wrap where the address does not.
        const std::string other = w_.fresh(Class::b32);
        w_.line("add.s32 {}, {}, {};", other, index, k);
        load(address(base, other, bytes), 0, how, element, vector);
      } else {
        load(at, k * static_cast<std::int64_t>(bytes), how, element, vector);
      }
      if (w_.one_in(8)) statement(3, true);
      // The same bytes in another width.
      if (w_.one_in(10) && vector == 1 && element.bytes == 4)
        load(at, k * 4, how, {"u16", 2, Class::b32}, 1);
    }
  }

  void load(const std::string& at, std::int64_t offset, const std::string& how,
            const Element& element, unsigned vector) {
    std::string prefix;
    std::vector<std::string> into;
    for (unsigned e = 0; e < vector; ++e)
      into.push_back(w_.fresh(element.reg));
    if (w_.one_in(8)) {
      const std::string p = w_.fresh(Class::pred);
      condition(p);
      for (const std::string& r : into)
        zero(r, element.reg);
      prefix = fmt::format("@{}{} ", w_.one_in(2) ? "!" : "", p);
    }
    // Sometimes the value replaces the address it came from.
    if (element.reg == Class::b64 && vector == 1 && prefix.empty() && w_.one_in(6)) {
      const std::string copy = w_.fresh(Class::b64);
      w_.line("mov.u64 {}, {};", copy, at);
      w_.line("ld{}.{} {}, [{}+{}];", how, element.type, copy, copy, offset);
      consume(copy, element.reg);
      return;
    }
    const std::string list =
        vector == 1   ? into[0]
        : vector == 2 ? fmt::format("{{{}, {}}}", into[0], into[1])
                      : fmt::format("{{{}, {}, {}, {}}}", into[0], into[1], into[2], into[3]);
    const std::string width = vector == 1 ? "" : fmt::format(".v{}", vector);
    w_.line("{}ld{}{}.{} {}, [{}+{}];", prefix, how, width, element.type, list, at, offset);
    for (const std::string& r : into)
      consume(r, element.reg);
  }

  void zero(const std::string& r, Class c) {
    switch (c) {
    case Class::b16: w_.line("mov.u16 {}, 7;", r); break;
    case Class::f32: w_.line("mov.f32 {}, 0f40000000;", r); break;
    case Class::f64: w_.line("mov.f64 {}, 0d4000000000000000;", r); break;
    case Class::b64: w_.line("mov.u64 {}, 7;", r); break;
    default: w_.line("mov.u32 {}, 7;", r); break;
    }
  }

  // A loaded value must reach a result, or a wrong one would not be seen.
  void consume(const std::string& r, Class c) {
    switch (c) {
    case Class::b16: {
      const std::string wide = w_.fresh(Class::b32);
      w_.line("cvt.u32.u16 {}, {};", wide, r);
      w_.line("mad.lo.s32 {}, {}, 31, {};", acc_, acc_, wide);
      break;
    }
    case Class::f32:
      w_.line("fma.rn.f32 {}, {}, 0f3FA00000, {};", facc_, facc_, r);
      floats_.push_back(r);
      break;
    case Class::f64:
      w_.line("fma.rn.f64 {}, {}, 0d3FF4000000000000, {};", dacc_, dacc_, r);
      doubles_.push_back(r);
      break;
    case Class::b64: {
      const std::string narrow = w_.fresh(Class::b32);
      w_.line("cvt.u32.u64 {}, {};", narrow, r);
      w_.line("mad.lo.s32 {}, {}, 31, {};", acc_, acc_, narrow);
      break;
    }
    default:
      w_.line("mad.lo.s32 {}, {}, 31, {};", acc_, acc_, r);
      ints_.push_back(r);
      break;
    }
  }

  // ---- Everything else ----

  void arithmetic() {
    const std::string r = w_.fresh(Class::b32);
    const std::string a = w_.pick(ints_), b = w_.pick(ints_);
    switch (w_.below(9)) {
    case 0: w_.line("add.s32 {}, {}, {};", r, a, b); break;
    case 1: w_.line("sub.u32 {}, {}, {};", r, a, b); break;
    case 2: w_.line("xor.b32 {}, {}, {};", r, a, b); break;
    case 3: w_.line("shr.{} {}, {}, {};", sign(), r, a, w_.below(33)); break;
    case 4: w_.line("min.{} {}, {}, {};", sign(), r, a, b); break;
    case 5: w_.line("mul.hi.{} {}, {}, {};", sign(), r, a, b); break;
    case 6: w_.line("mul24.lo.s32 {}, {}, {};", r, a, b); break;
    case 7: {
      const std::string p = w_.fresh(Class::pred);
      condition(p);
      w_.line("selp.b32 {}, {}, {}, {};", r, a, b, p);
      break;
    }
    default: {
      const std::string f = w_.fresh(Class::f32);
      w_.line("add.f32 {}, {}, {};", f, w_.pick(floats_), w_.pick(floats_));
      floats_.push_back(f);
      w_.line("mov.b32 {}, {};", r, f);
      break;
    }
    }
    ints_.push_back(r);
    w_.line("add.s32 {}, {}, {};", acc_, acc_, r);
  }

  // Destroys a loaded value that a later shuffle may want to send.
  void overwrite() {
    if (floats_.size() < 2) return arithmetic();
    const std::string victim = w_.pick(floats_);
    w_.line("mul.f32 {}, {}, 0f3F400000;", victim, victim);
    w_.line("add.f32 {}, {}, {};", facc_, facc_, victim);
  }

  // To a slice of `out` that nobody else writes.
  void store() {
    const std::string at = w_.fresh(Class::b32);
    w_.line("mad.lo.s32 {}, {}, {}, {};", at, total_, w_.below(4), linear_);
    const std::string where = address(out_, at, 4);
    const std::string prefix = predicated();
    switch (w_.below(3)) {
    case 0: w_.line("{}st.global.u32 [{}], {};", prefix, where, acc_); break;
    case 1: w_.line("{}st.global.f32 [{}], {};", prefix, where, facc_); break;
    default: {
      const std::string both = w_.fresh(Class::f32), d = w_.fresh(Class::f32),
                        i = w_.fresh(Class::f32);
      w_.line("cvt.rn.f32.f64 {}, {};", d, dacc_);
      w_.line("cvt.rn.f32.s32 {}, {};", i, acc_);
      w_.line("add.f32 {}, {}, {};", both, facc_, d);
      w_.line("add.f32 {}, {}, {};", both, both, i);
      w_.line("{}st.global{}.f32 [{}], {};", prefix, w_.one_in(6) ? ".wt" : "", where, both);
    }
    }
  }

  std::string predicated() {
    if (!w_.one_in(6)) return "";
    const std::string p = w_.fresh(Class::pred);
    condition(p);
    return fmt::format("@{} ", p);
  }

  // Reads and writes this thread's own word of `c`; now and then a word of an input array, which
  // races with the neighbours (the comparison leaves those out when it matters).
  void in_place() {
    const bool wild = w_.one_in(10);
    const std::string at =
        wild ? address(w_.pick(inputs_), base_index_, 4) : address(in_place_, linear_, 4);
    if (w_.one_in(2)) {
      const std::string r = w_.fresh(Class::b32);
      w_.line("ld.global.u32 {}, [{}];", r, at);
      consume(r, Class::b32);
    }
    w_.line("{}st.global.u32 [{}], {};", predicated(), at, acc_);
  }

  void synchronize(bool divergent) {
    switch (w_.below(divergent ? 2 : 4)) {
    case 0: w_.line("membar.gl;"); break;
    case 1: w_.line("fence.acq_rel.gpu;"); break;
    default: w_.line("bar.sync 0;"); break;
    }
  }

  void atomic() {
    const std::string at = address(in_place_, linear_, 4), r = w_.fresh(Class::b32);
    if (w_.one_in(2)) {
      w_.line("red.global.add.u32 [{}], {};", at, acc_);
    } else {
      w_.line("atom.global.xor.b32 {}, [{}], {};", r, at, acc_);
      consume(r, Class::b32);
    }
  }

  // Writes a word of the tile, waits, reads a neighbour's.
  void through_shared() {
    shared_ = true;
    const std::string tid = special("tid.x"), tile = w_.fresh(Class::b32),
                      at = w_.fresh(Class::b32), ty = special("tid.y"), size = special("ntid.x"),
                      tz = special("tid.z"), rows = special("ntid.y"), row = w_.fresh(Class::b32),
                      number = w_.fresh(Class::b32);
    w_.line("mad.lo.s32 {}, {}, {}, {};", row, tz, rows, ty);
    w_.line("mad.lo.s32 {}, {}, {}, {};", number, row, size, tid);
    w_.line("mov.u32 {}, tile;", tile);
    w_.line("mad.lo.s32 {}, {}, 4, {};", at, number, tile);
    w_.line("bar.sync 0;");
    w_.line("st.shared.u32 [{}+16], {};", at, acc_);
    w_.line("bar.sync 0;");
    const std::uint64_t count = 1 + w_.below(3);
    // Only words that some thread has written are read: the own one, by way of its neighbours'
    // guard.
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t k = w_.between(-1, 2);
      const std::string other = w_.fresh(Class::b32), p = w_.fresh(Class::pred),
                        r = w_.fresh(Class::b32), threads = w_.fresh(Class::b32);
      w_.line("add.s32 {}, {}, {};", other, number, k);
      const std::string depth = special("ntid.z");
      w_.line("mul.lo.s32 {}, {}, {};", threads, size, rows);
      w_.line("mul.lo.s32 {}, {}, {};", threads, threads, depth);
      w_.line("setp.lt.u32 {}, {}, {};", p, other, threads);
      w_.line("mov.u32 {}, 3;", r);
      w_.line("@{} ld.shared.u32 {}, [{}+{}];", p, r, at, 16 + 4 * k);
      consume(r, Class::b32);
    }
  }

  void call() {
    function_ = true;
    const std::string r = w_.fresh(Class::b32), label = w_.label();
    w_.line("{{ .param .b32 x{}; .param .b32 r{}; st.param.b32 [x{}], {}; call.uni (r{}), twist, "
            "(x{}); ld.param.b32 {}, [r{}]; }}",
            label, label, label, w_.pick(ints_), label, label, r, label);
    consume(r, Class::b32);
  }

  std::string constant_float() {
    const std::string r = w_.fresh(Class::f32);
    w_.line("mov.f32 {}, 0f{:08X};", r, 0x3f000000 + w_.below(0x1000000));
    return r;
  }
  std::string constant_double() {
    const std::string r = w_.fresh(Class::f64);
    w_.line("mov.f64 {}, 0d3FE{:013X};", r, w_.below(std::uint64_t{1} << 52));
    return r;
  }
  std::string sign() { return w_.one_in(3) ? "u32" : "s32"; }

  Writer w_;
  std::vector<std::string> inputs_;
  std::string in_place_, out_, n_, m_, x_, y_, linear_, total_, base_index_;
  std::string acc_, facc_, dacc_;
  std::vector<std::string> ints_, floats_, doubles_, indices_;
  bool shared_ = false, function_ = false;
  bool early_exit_ = false; // some threads may have left: their words of the tile are not written
};

} // namespace

std::string generate(std::uint64_t seed) {
  return Generator(seed).run();
}

} // namespace ptxasw::fuzz
