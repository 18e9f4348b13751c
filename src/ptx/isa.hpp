// The PTX instruction set as data: opcodes (ops.def), and types, state spaces, modifiers and
// special registers (words.def). Passes switch on these enums, never on opcode strings. PTX
// ISA 9.0, chapters 5, 8 and 9.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ptxasw::ptx {

// Opcodes that are C++ keywords have a trailing underscore: Op::and_.
enum class Op : std::uint8_t {
  unknown,
#define PTX_OP(name, group, results) name,
#include "ptx/ops.def"
#undef PTX_OP
};

// What kind of effect an opcode can have beyond writing its destination registers.
enum class Group : std::uint8_t {
  unknown, // not in the table: may do anything
  pure,    // destinations are a function of the sources (and of nothing else)
  load,
  store,
  atomic,     // reads and writes memory, orders nothing by itself unless its semantics say so
  async_copy, // reads and writes memory at some later time
  hint,       // no effect on values
  warp,       // depends on which lanes arrive: shfl, vote, ...
  texture,
  surface,
  branch,
  call,
  exit,
  barrier, // waits for other threads
  fence,   // orders memory
  mbarrier,
  matrix, // warp-wide; may touch memory
  stack,
};

enum class Type : std::uint8_t {
  none,
#define PTX_TYPE(name, width, family) name,
#include "ptx/words.def"
  other, // e4m3, e2m1x2, texref, samplerref, ...: sizes may be unknown
};
unsigned bit_width(Type type); // 0 for none and other; pred: 1
bool is_signed(Type type);     // s8..s64, s16x2, s8x4
bool is_float(Type type);      // f16, f16x2, bf16, bf16x2, tf32, f32, f32x2, f64

enum class Space : std::uint8_t {
  generic, // no state space given
#define PTX_SPACE(name) name,
#include "ptx/words.def"
};

enum class Compare : std::uint8_t {
  none,
#define PTX_COMPARE(name) name,
#include "ptx/words.def"
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class Rounding : std::uint8_t {
  none,
#define PTX_ROUNDING(name) name,
#include "ptx/words.def"
};
enum class Half : std::uint8_t { none, lo, hi, wide }; // mul/mad result part
enum class Order : std::uint8_t {
#define PTX_ORDER(name) name,
#include "ptx/words.def"
};
enum class Scope : std::uint8_t {
  none,
#define PTX_SCOPE(name) name,
#include "ptx/words.def"
};
// Cache operators and the non-coherent path of loads and stores.
enum class Cache : std::uint8_t {
  none,
#define PTX_CACHE(name) name,
#include "ptx/words.def"
};
// The operation of atom, red, shfl, vote, redux, shf, prmt, bar, cp, and so on.
enum class Sub : std::uint8_t {
  none,
#define PTX_SUB(name) name,
#include "ptx/words.def"
};

// The matrices of ldmatrix and mma: rows, columns and the depth that is summed over.
enum class Shape : std::uint8_t {
  none,
#define PTX_SHAPE(name) name,
#include "ptx/words.def"
};

// The modifiers of one instruction, decoded. `unknown` is set when some modifier is not
// modelled: the instruction is then opaque to the semantics. `unread` says more: some modifier is
// not even decoded.
struct Modifiers {
  Type type = Type::none, type2 = Type::none, type3 = Type::none; // in the order written
  Type type4 = Type::none;                                        // of mma; `unknown` is set, too
  Space space = Space::generic;
  Space space2 = Space::generic; // second one, as in cp.async.shared.global
  Compare compare = Compare::none;
  BoolOp bool_op = BoolOp::none;
  Rounding rounding = Rounding::none;
  Half half = Half::none;
  Order order = Order::weak;
  Scope scope = Scope::none;
  Cache cache = Cache::none;
  Sub sub = Sub::none, sub2 = Sub::none, sub3 = Sub::none; // in the order written
  std::uint8_t vector = 1;                                 // .v2 .v4 .v8
  bool nc = false;                                         // ld.global.nc
  bool cache_hint = false;  // .L2::cache_hint: the last operand is a policy
  bool to = false;          // cvta.to
  bool uni = false;         // bra.uni, call.uni
  bool cc = false;          // writes the carry flag
  bool wide_approx = false; // .approx or .full
  bool ftz = false, sat = false, satfinite = false, relu = false;
  bool nan = false, xorsign = false, abs = false;
  bool shiftamt = false; // bfind.shiftamt
  bool sync = false;     // shfl.sync, vote.sync, ...
  bool aligned = false;
  bool noftz = false, oob = false;
  Shape shape = Shape::none;
  std::uint8_t matrices = 0; // of ldmatrix: .x1 .x2 .x4
  bool trans = false;
  bool unknown = false, unread = false;

  [[nodiscard]] bool has(Sub which) const { return sub == which || sub2 == which || sub3 == which; }
};

// As they are written, without the dot; "" for none.
std::string_view name(Type type);
std::string_view name(Space space);
std::string_view name(Compare compare);
std::string_view name(Rounding rounding);
std::string_view name(Sub sub);

Op find_op(std::string_view name); // "ld" -> Op::ld; unknown names give Op::unknown
std::string_view name(Op op);
Group group(Op op);
bool is_video(Op op);    // vadd to vset4: registers are named in parts
unsigned results(Op op); // leading operands written, see ops.def
// `modifiers` as written, each with its leading dot.
Modifiers decode(Op op, std::span<const std::string_view> modifiers);

// Special registers (PTX ISA 9.0, chapter 10).
enum class Special : std::uint8_t {
#define PTX_SPECIAL(id, name, width) id,
#include "ptx/words.def"
  other, // %pm0.., %envreg0.., %reserved_smem_offset...: a value we know nothing of
};
struct SpecialInfo {
  Special id = Special::other;
  std::string_view name; // "%tid.x"
  std::uint8_t width = 32;
};
// "%tid.x" -> its entry; nullptr if the name is not a special register.
const SpecialInfo* find_special(std::string_view name);
const SpecialInfo& info(Special special);
// The register of a vector, given that of x: %ctaid.z for (ctaid_x, 2).
constexpr Special along(Special x, unsigned axis) {
  return static_cast<Special>(static_cast<unsigned>(x) + axis);
}
// Is it one of the three of a vector, given that of x?
constexpr bool is_along_axis(Special special, Special x) {
  return special >= x && special <= along(x, 2);
}
constexpr bool is_lane(Special special) { // or a mask that is made of it
  return special == Special::laneid ||
         (special >= Special::lanemask_eq && special <= Special::lanemask_gt);
}
constexpr bool is_clock(Special special) {
  return special >= Special::clock && special <= Special::globaltimer_hi;
}

} // namespace ptxasw::ptx
