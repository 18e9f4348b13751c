// The frame of a kernel: where its thread is, what its pointers are, who leaves early.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

namespace {

constexpr std::string_view function_text =
    ".func (.param .b32 r) twist(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n"
    "xor.b32 %r2, %r1, 5;\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".func (.param .b32 r) beside(.param .b32 x, .param .b32 k)\n{\n.reg .b32 %r<4>;\n"
    "ld.param.u32 %r1, [x];\nld.param.u32 %r2, [k];\nadd.s32 %r3, %r1, %r2;\n"
    "st.param.b32 [r], %r3;\nret;\n}\n"
    ".func (.param .b32 r) word(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n"
    "ld.shared.u32 %r2, [%r1];\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".func (.param .b32 r) fetch(.param .b64 x)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d;\n"
    "ld.param.u64 %d, [x];\nld.global.u32 %r1, [%d];\nld.global.nc.u32 %r2, [%d+4];\n"
    "add.s32 %r3, %r1, %r2;\nst.param.b32 [r], %r3;\nret;\n}\n"
    ".func leave(.param .b32 x)\n{\n.reg .b32 %r<4>;\n.reg .pred %p;\nld.param.u32 %r1, [x];\n"
    "setp.gt.s32 %p, %r1, 40;\n@%p exit;\nret;\n}\n";

} // namespace

std::string KernelMaker::run() {
  prologue();
  guard();
  const auto statements = static_cast<unsigned>(2 + w_.below(5));
  for (unsigned i = 0; i < statements; ++i)
    statement(0, false);
  group();
  store();
  return text();
}

std::string KernelMaker::text() {
  w_.line("END: ret;");
  return fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n{}{}{}{}"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, "
      ".param .u64 out, .param .u32 n, .param .u32 m)\n{{\n{}{}{}}}\n",
      table_ ? ".const .align 4 .b32 table[9] = {1, 5, 2, 8, 9, 4, 7, 6, 3};\n" : "",
      shared_ ? ".shared .align 16 .b8 tile[8192];\n" : "",
      words_ ? ".shared .align 16 .b8 words[2048];\n" : "", function_ ? function_text : "",
      local_ ? ".local .align 16 .b8 frame[32];\n" : "", w_.declarations(), w_.body());
}

std::string KernelMaker::special(std::string_view name) {
  const std::string r = w_.fresh(Class::b32);
  w_.line("mov.u32 {}, %{};", r, name);
  return r;
}

// Global position along an axis: the product of block and block size, plus the thread.
std::string KernelMaker::position(char axis) {
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

std::string KernelMaker::extent(char axis) {
  const std::string size = special(fmt::format("ntid.{}", axis));
  const std::string count = special(fmt::format("nctaid.{}", axis));
  const std::string r = w_.fresh(Class::b32);
  w_.line("mul.lo.s32 {}, {}, {};", r, size, count);
  return r;
}

std::string KernelMaker::pointer(std::string_view name) {
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

void KernelMaker::prologue() {
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
  for (std::string& slot : slots_) {
    slot = w_.fresh(Class::b32);
    w_.line("mov.u32 {}, {};", slot, w_.below(100));
  }
  if (odd_) own_pointer();
  plane_ = w_.fresh(Class::b32);
  w_.line("mul.lo.s32 {}, {}, {};", plane_, n_, m_);
  base_index_ = make_index(z);
  indices_.push_back(base_index_);
  if (w_.one_in(2)) indices_.push_back(make_index(z));
  if (w_.one_in(3)) indices_.push_back(x_);
}

// A 32-bit index into an input: mostly along x, so that neighbours are lanes.
std::string KernelMaker::make_index(const std::string& z) {
  const std::string r = w_.fresh(Class::b32);
  switch (w_.below(10)) {
  case 0: w_.line("mov.u32 {}, {};", r, x_); break;
  case 1: w_.line("mad.lo.s32 {}, {}, {}, {};", r, x_, n_, y_); break; // transposed
  case 2: w_.line("mad.lo.{} {}, {}, {}, {};", sign(), r, x_, w_.between(2, 3), y_); break;
  case 3:
  case 4: {
    const std::string plane = w_.fresh(Class::b32);
    w_.line("mad.lo.s32 {}, {}, {}, {};", plane, z, m_, y_);
    w_.line("mad.lo.s32 {}, {}, {}, {};", r, plane, n_, x_);
    break;
  }
  case 5: w_.line("mov.u32 {}, %tid.x;", r); break;
  default: w_.line("mad.lo.{} {}, {}, {}, {};", sign(), r, y_, n_, x_); break;
  }
  // Mostly far enough from zero: an unsigned index of a row before the first is far out.
  if (!w_.one_in(4))
    w_.line("add.s32 {}, {}, 1000;", r, r);
  else if (w_.one_in(2))
    w_.line("add.s32 {}, {}, {};", r, r, w_.between(-3, 3));
  return r;
}

// A block that has nothing to do.
void KernelMaker::block_guard() {
  const std::string p = w_.fresh(Class::pred),
                    cta = special(w_.pick<std::string_view>({"ctaid.x", "ctaid.x", "ctaid.y"}));
  w_.line("setp.{} {}, {}, {};",
          w_.pick<std::string_view>({"ge.u32", "eq.s32", "ne.u32", "lt.s32"}), p, cta, w_.below(4));
  w_.line("@{} {};", p, w_.one_in(2) ? "ret" : "bra END");
}

void KernelMaker::guard() {
  if (w_.one_in(6)) {
    block_guard();
    if (w_.one_in(2)) return;
  }
  if (w_.one_in(4)) return;
  const std::string p = w_.fresh(Class::pred);
  const std::uint64_t kind = w_.below(6);
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
  case 3: w_.line("setp.ge.{} {}, {}, {};", sign(), p, y_, m_); break;
  case 4: {
    const std::string q = w_.fresh(Class::pred);
    w_.line("setp.ge.u32 {}, {}, {};", q, x_, n_);
    w_.line("setp.ge.or.u32 {}, {}, {}, {};", p, y_, m_, q);
    break;
  }
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

std::string KernelMaker::constant_float() {
  const std::string r = w_.fresh(Class::f32);
  w_.line("mov.f32 {}, 0f{:08X};", r, 0x3f000000 + w_.below(0x1000000));
  return r;
}

std::string KernelMaker::constant_double() {
  const std::string r = w_.fresh(Class::f64);
  w_.line("mov.f64 {}, 0d3FE{:013X};", r, w_.below(std::uint64_t{1} << 52));
  return r;
}

std::string KernelMaker::sign() {
  return w_.one_in(3) ? "u32" : "s32";
}

std::string generate(std::uint64_t seed) {
  return KernelMaker(seed).run();
}

} // namespace ptxasw::fuzz
