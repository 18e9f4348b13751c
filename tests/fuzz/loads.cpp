// Groups of loads around one place, in the forms that compilers and traps have.
#include "fuzz/kernel_maker.hpp"

namespace ptxasw::fuzz {

namespace {

constexpr Element elements[] = {
    {"f32", 4, Class::f32}, {"f32", 4, Class::f32}, {"f32", 4, Class::f32}, {"u32", 4, Class::b32},
    {"s32", 4, Class::b32}, {"b32", 4, Class::b32}, {"f64", 8, Class::f64}, {"u64", 8, Class::b64},
    {"u16", 2, Class::b16}, {"s16", 2, Class::b32}, {"u8", 1, Class::b16},  {"s8", 1, Class::b32},
    {"u16", 2, Class::b32}, {"u8", 1, Class::b32},
};

} // namespace

// base + index * bytes, in one of the ways that compilers write it.
std::string KernelMaker::address(const std::string& base, const std::string& index,
                                 unsigned bytes) {
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

// The same with the neighbour's index in 64 bits.
std::string KernelMaker::long_address(const std::string& base, const std::string& index,
                                      std::int64_t k, unsigned bytes) {
  const std::string wide = w_.fresh(Class::b64), other = w_.fresh(Class::b64),
                    r = w_.fresh(Class::b64);
  const std::string s = sign();
  w_.line("cvt.{}64.{} {}, {};", s[0], s, wide, index);
  w_.line("add.s64 {}, {}, {};", other, wide, k);
  w_.line("mad.lo.s64 {}, {}, {}, {};", r, other, bytes, base);
  return r;
}

// The neighbour's index, sometimes by way of a function.
std::string KernelMaker::neighbour(const std::string& index, std::int64_t k) {
  const std::string other = w_.fresh(Class::b32);
  if (calm_ || !w_.one_in(3)) {
    w_.line("add.s32 {}, {}, {};", other, index, k);
    return other;
  }
  function_ = true;
  const std::string label = w_.label();
  w_.line("{{ .param .b32 x{0}; .param .b32 k{0}; .param .b32 r{0}; st.param.b32 [x{0}], {1};",
          label, index);
  w_.line(
      "st.param.b32 [k{0}], {1}; call (r{0}), beside, (x{0}, k{0}); ld.param.b32 {2}, [r{0}]; }}",
      label, k, other);
  return other;
}

std::string KernelMaker::qualifiers(bool read_only) {
  switch (w_.below(read_only ? 14 : 10)) {
  case 0: return ".ca";
  case 1: return ".cg";
  case 2: return calm_ || w_.one_in(2) ? ".cs" : ".cv";
  case 10:
  case 11:
  case 12:
  case 13: return ".nc";
  default: return "";
  }
}

// Several loads around one place.
void KernelMaker::group() {
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
  const bool is_volatile = !calm_ && w_.one_in(24);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t k = read_only ? w_.between(-2, 3) : 0;
    const std::string how =
        is_volatile ? ".volatile.global" : fmt::format(".global{}", w_.one_in(6) ? "" : qualifier);
    const std::uint64_t form = read_only ? w_.below(12) : 11;
    if (form < 2) {
      // The neighbour's index is computed on its own: it may wrap where the address does not.
      load(address(base, neighbour(index, k), bytes), 0, how, element, vector);
    } else if (form < 5) {
      // A row or a plane above or below: what a neighbouring block loads.
      const std::string other = w_.fresh(Class::b32);
      w_.line("mad.lo.s32 {}, {}, {}, {};", other, w_.one_in(3) ? plane_ : n_, k, index);
      load(address(base, other, bytes), 0, how, element, vector);
    } else if (form == 5) {
      load(long_address(base, index, k, bytes), 0, how, element, vector);
    } else {
      load(at, k * static_cast<std::int64_t>(bytes), how, element, vector);
    }
    if (w_.one_in(8)) statement(3, true);
    // The same bytes in another width.
    if (w_.one_in(10) && vector == 1 && element.bytes == 4)
      load(at, k * 4, how, {"u16", 2, Class::b32}, 1);
  }
}

void KernelMaker::load(const std::string& at, std::int64_t offset, const std::string& how,
                       const Element& element, unsigned vector) {
  if (vector == 1 && w_.one_in(4)) return load_in_scope(at, offset, how, element);
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

// As inline assembly does it, in a register of a nested block { }: of a name that all of them use,
// or one that hides a register, or all registers up to the one that the value goes to.
void KernelMaker::load_in_scope(const std::string& at, std::int64_t offset, const std::string& how,
                                const Element& element) {
  const std::string_view type = Writer::type(element.reg);
  const Class wide = element.reg == Class::b16 ? Class::b32 : element.reg;
  const std::string address = w_.fresh(Class::b64), before = w_.fresh(element.reg),
                    value = w_.fresh(wide);
  w_.line("mov.u64 {}, {};", address, at);
  zero(before, element.reg);
  std::string name = w_.pick<std::string>({"t", "t", "u", before});
  std::string declared = name;
  if (element.reg != Class::b64 && w_.one_in(5)) {
    const std::size_t digits = before.find_last_not_of("0123456789") + 1;
    declared =
        fmt::format("{}<{}>", before.substr(0, digits), std::stoul(before.substr(digits)) + 1);
    name = fmt::format("{}{}", before.substr(0, digits),
                       w_.below(std::stoul(before.substr(digits)) + 1));
  }
  w_.line("{{");
  w_.line(".reg {} {};", type, declared);
  w_.line("ld{}.{} {}, [{}+{}];", how, element.type, name, address, offset);
  if (element.reg == Class::b16)
    w_.line("cvt.u32.u16 {}, {};", value, name);
  else
    w_.line("mov{} {}, {};", type, value, name);
  w_.line("}}");
  consume(value, wide);
  consume(before, element.reg);
}

void KernelMaker::zero(const std::string& r, Class c) {
  switch (c) {
  case Class::b16: w_.line("mov.u16 {}, 7;", r); break;
  case Class::f32: w_.line("mov.f32 {}, 0f40000000;", r); break;
  case Class::f64: w_.line("mov.f64 {}, 0d4000000000000000;", r); break;
  case Class::b64: w_.line("mov.u64 {}, 7;", r); break;
  default: w_.line("mov.u32 {}, 7;", r); break;
  }
}

// A loaded value must reach a result, or a wrong one would not be seen.
void KernelMaker::consume(const std::string& r, Class c) {
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

} // namespace ptxasw::fuzz
