// Which parts of their operands video instructions read and write.
#include "semantics/video.hpp"

#include <string_view>

namespace ptxasw::sem {

namespace {

using ptx::Op;
using ptx::Sub;
using ptx::Type;
using Part = Video::Part;

bool is_word(Type t) {
  return t == Type::u32 || t == Type::s32;
}

// vadd2 and vadd4 are vadd on lanes; averages exist on lanes only.
Op scalar_operation(Op op) {
  switch (op) {
  case Op::vadd2:
  case Op::vadd4: return Op::vadd;
  case Op::vsub2:
  case Op::vsub4: return Op::vsub;
  case Op::vabsdiff2:
  case Op::vabsdiff4: return Op::vabsdiff;
  case Op::vmin2:
  case Op::vmin4: return Op::vmin;
  case Op::vmax2:
  case Op::vmax4: return Op::vmax;
  case Op::vset2:
  case Op::vset4: return Op::vset;
  case Op::vavrg4: return Op::vavrg2;
  default: return op;
  }
}
std::uint8_t lanes_of(Op op) {
  const std::string_view name = ptx::name(op);
  return name.ends_with('2') ? 2 : (name.ends_with('4') ? 4 : 1);
}

// .b0 to .b3, .h0, .h1; nothing: the word. `base` is where the operand begins.
std::optional<Part> scalar_part(std::string_view selector, unsigned base) {
  if (selector.empty()) return Part{32, static_cast<std::uint8_t>(base)};
  if (selector.size() != 2) return std::nullopt;
  const auto place = static_cast<unsigned>(selector[1] - '0');
  if (selector[0] == 'b' && place < 4) return Part{8, static_cast<std::uint8_t>(base + 8 * place)};
  if (selector[0] == 'h' && place < 2)
    return Part{16, static_cast<std::uint8_t>(base + 16 * place)};
  return std::nullopt;
}

// .h32, .b7654: element numbers of the pair b:a, the last lane first.
bool lane_parts(std::string_view selector, std::string_view usual, unsigned lanes,
                std::array<Part, 4>& parts) {
  if (selector.empty()) selector = usual;
  if (selector.size() != lanes + 1 || selector[0] != usual[0]) return false;
  const unsigned width = 32 / lanes;
  for (unsigned i = 0; i < lanes; ++i) {
    const auto element = static_cast<unsigned>(selector[lanes - i] - '0');
    if (element >= 2 * lanes) return false;
    parts[i] = {static_cast<std::uint8_t>(width), static_cast<std::uint8_t>(width * element)};
  }
  return true;
}

// .h10, .b3210: lanes that are written, in falling order.
bool lane_mask(std::string_view selector, char letter, unsigned lanes, std::uint8_t& mask) {
  mask = static_cast<std::uint8_t>((1U << lanes) - 1);
  if (selector.empty()) return true;
  if (selector[0] != letter || selector.size() < 2) return false;
  mask = 0;
  for (const char c : selector.substr(1)) {
    const auto lane = static_cast<unsigned>(c - '0');
    if (lane >= lanes || (mask & ((2U << lane) - 1)) != 0) return false;
    mask = static_cast<std::uint8_t>(mask | 1U << lane);
  }
  return true;
}

bool read_types(const ptx::Modifiers& m, Video& v) {
  const bool compares = v.op == Op::vset;
  const Type d = compares ? Type::u32 : m.type, a = compares ? m.type : m.type2,
             b = compares ? m.type2 : m.type3;
  if (!is_word(d) || !is_word(a) || !is_word(b)) return false;
  if (compares &&
      (m.type3 != Type::none || m.compare < ptx::Compare::eq || m.compare > ptx::Compare::ge))
    return false;
  v.d_signed = ptx::is_signed(d);
  v.a_signed = ptx::is_signed(a);
  v.b_signed = ptx::is_signed(b);
  return true;
}

bool is_shift(Op op) {
  return op == Op::vshl || op == Op::vshr;
}

bool read_modifiers(const ptx::Modifiers& m, Video& v) {
  for (const Sub sub : {m.sub, m.sub2, m.sub3}) {
    if (sub == Sub::none) break;
    const bool mode = sub == Sub::clamp || sub == Sub::wrap;
    if (mode && is_shift(v.op)) {
      v.wraps = sub == Sub::wrap;
    } else if (sub == Sub::po && v.op == Op::vmad) {
      v.plus_one = true;
    } else if (sub == Sub::add && v.op != Op::vmad && !v.accumulates) {
      v.accumulates = true;
    } else {
      return false;
    }
  }
  return true;
}

bool read_scalar_parts(const ptx::Body& body, const ptx::Inst& inst, Video& v) {
  const auto src = body.src(inst);
  const auto a = scalar_part(src[0].selector, 0), b = scalar_part(src[1].selector, 32);
  if (!a || !b || inst.mods.sat || !body.dst(inst)[0].selector.empty()) return false;
  v.a[0] = *a;
  v.b[0] = *b;
  v.written = 1;
  return src.size() == (v.op == Op::vmad || v.accumulates ? 3U : 2U);
}

bool read_lane_parts(const ptx::Body& body, const ptx::Inst& inst, Video& v) {
  const auto src = body.src(inst);
  const bool two = v.lanes == 2;
  v.merges = !v.accumulates;
  for (unsigned i = 0; i < v.lanes; ++i)
    v.d[i] = {static_cast<std::uint8_t>(32 / v.lanes), static_cast<std::uint8_t>(32 / v.lanes * i)};
  return src.size() == 3 && !(v.accumulates && inst.mods.sat) &&
         lane_parts(src[0].selector, two ? "h10" : "b3210", v.lanes, v.a) &&
         lane_parts(src[1].selector, two ? "h32" : "b7654", v.lanes, v.b) &&
         lane_mask(body.dst(inst)[0].selector, two ? 'h' : 'b', v.lanes, v.written);
}

} // namespace

std::optional<Video> video_parts(const ptx::Body& body, const ptx::Inst& inst) {
  Video v;
  v.op = scalar_operation(inst.op);
  v.lanes = lanes_of(inst.op);
  const auto src = body.src(inst);
  if (inst.dst.count != 1 || src.size() < 2 || (src.size() > 2 && !src[2].selector.empty()) ||
      !read_types(inst.mods, v) || !read_modifiers(inst.mods, v))
    return std::nullopt;
  if (is_shift(v.op) && v.b_signed) return std::nullopt;
  const bool read =
      v.lanes == 1 ? read_scalar_parts(body, inst, v) : read_lane_parts(body, inst, v);
  return read ? std::optional(v) : std::nullopt;
}

} // namespace ptxasw::sem
