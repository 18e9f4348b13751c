// The PTX instruction set as data: opcodes, types, state spaces, modifiers, effects.
// Passes switch on these enums, never on opcode strings. PTX ISA 9.0, chapters 5, 8 and 9.
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
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3x2, // two narrow floating-point numbers, each in a byte
  e5m2x2,
  e2m3x2,
  e3m2x2,
  other, // e4m3, e2m1x2, texref, samplerref, ...: sizes may be unknown
};
unsigned bit_width(Type type);    // 0 for none and other; pred: 1
bool is_signed(Type type);        // s8..s64, s16x2, s8x4
bool is_float(Type type);         // f16, f16x2, bf16, bf16x2, tf32, f32, f32x2, f64
std::string_view name(Type type); // "b32", without the dot

enum class Space : std::uint8_t {
  generic, // no state space given
  reg,
  sreg,
  const_,
  global,
  local,
  param,
  shared,
  tex,
  tmem,
};
std::string_view name(Space space);

enum class Compare : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class Rounding : std::uint8_t {
  none,
  rn,
  rz,
  rm,
  rp,
  rna,
  rs, // to a floating-point value
  rni,
  rzi,
  rmi,
  rpi, // to an integral value
};
enum class Half : std::uint8_t { none, lo, hi, wide }; // mul/mad result part
enum class Order : std::uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel, sc, mmio };
enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };
// Cache operators and the non-coherent path of loads and stores.
enum class Cache : std::uint8_t { none, ca, cg, cs, cv, lu, wb, wt };
// The operation of atom, red, shfl, vote, redux, shf, prmt, bar, cp, and so on.
enum class Sub : std::uint8_t {
  none,
  add,
  inc,
  dec,
  min,
  max,
  and_,
  or_,
  xor_,
  cas,
  exch,
  popc, // atom, red, redux, bar.red
  up,
  down,
  bfly,
  idx, // shfl, brx.idx
  all,
  any,
  uni,
  ballot, // vote, match
  l,
  r,
  wrap,
  clamp, // shf, shift modes
  f4e,
  b4e,
  rc8,
  ecl,
  ecr,
  rc16, // prmt
  arrive,
  sync,
  red,
  warp, // bar, barrier
  async,
  bulk, // cp, st, red
  finite,
  infinite,
  number,
  notanumber,
  normal,
  subnormal, // testp
  // What follows has no semantics here; effects() and operand shapes depend on it.
  load,
  store,
  ld,
  st,
  mma,
  mma_async,
  cp,
  alloc,
  dealloc,
  relinquish_alloc_permit,
  shift,
  fence,
  commit,
  wait, // wmma, wgmma, tcgen05
  ld_reduce,
  reduce,
  prefetch,
  tensor,
  commit_group,
  wait_group,
  wait_all,
  read, // cp, multimem
  init,
  inval,
  arrive_drop,
  expect_tx,
  complete_tx,
  test_wait,
  try_wait,
  pending_count, // mbarrier
  proxy,
  mbarrier_init, // fence
  launch_dependents,
  try_cancel,
  query_cancel,
  replace,
  fractional,
  range,
  cvt, // createpolicy
  pack,
  po, // vmad
  shr7,
  shr15,
};

// The matrices of ldmatrix and mma: rows, columns and the depth that is summed over.
enum class Shape : std::uint8_t { none, m8n8, m8n8k16, m16n8k4, m16n8k8, m16n8k16, m16n8k32 };

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
  bool cache_hint = false; // .L2::cache_hint: the last operand is a policy
  bool unified = false;
  bool to = false;          // cvta.to
  bool uni = false;         // bra.uni, call.uni
  bool cc = false;          // writes the carry flag
  bool wide_approx = false; // .approx or .full
  bool ftz = false, sat = false, satfinite = false, relu = false;
  bool nan = false, xorsign = false, abs = false;
  bool shiftamt = false; // bfind.shiftamt
  bool sync = false;     // shfl.sync, vote.sync, ...
  bool aligned = false;
  bool noinc = false, noftz = false, oob = false;
  Shape shape = Shape::none;
  std::uint8_t matrices = 0; // of ldmatrix: .x1 .x2 .x4
  bool trans = false;
  bool unknown = false, unread = false;

  [[nodiscard]] bool has(Sub which) const { return sub == which || sub2 == which || sub3 == which; }
};

Op find_op(std::string_view name); // "ld" -> Op::ld; unknown names give Op::unknown
std::string_view name(Op op);
Group group(Op op);
bool is_video(Op op);    // vadd to vset4: registers are named in parts
unsigned results(Op op); // leading operands written, see ops.def
// `modifiers` as written, each with its leading dot.
Modifiers decode(Op op, std::span<const std::string_view> modifiers);

// Special registers (PTX ISA 9.0, chapter 10).
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  dynamic_smem_size,
  aggr_smem_size,
  warp_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  current_graph_exec,
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

} // namespace ptxasw::ptx
