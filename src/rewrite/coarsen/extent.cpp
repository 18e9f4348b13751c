// Follows what is computed from indices and from parameters to the comparisons of the guard.
#include "rewrite/coarsen/extent.hpp"

#include "numbers/numbers.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>

namespace ptxasw::rewrite {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::RegId;
using ptx::Special;
using ptx::Type;

namespace {

constexpr std::uint64_t most_each = 1 << 16;

// Places along two axes that are compared with each other, as in `if (x < y) return;`: what bounds
// one of them bounds the other. Both are without a bound of their own.
using Diagonal = std::array<Extent, 2>;

// What a register hangs on.
struct Origin {
  unsigned blocks = 0, threads = 0; // bits: the axes whose indices it is a sum of
  std::uint64_t each = 1;           // times that of a thread
  bool is_sum = true;               // otherwise it hangs on them in another way
  bool is_launch = true;            // nothing else differs between the threads of a launch
  bool has_parameter = false;
  std::vector<Extent> compared; // a predicate: with what
  std::vector<Diagonal> sides;  // and which places with each other

  [[nodiscard]] bool has_index() const { return (blocks | threads) != 0; }
  [[nodiscard]] bool is_place() const { return is_sum && is_launch && !has_parameter; }
  [[nodiscard]] bool is_bound() const { return !has_index() && is_launch && has_parameter; }
  [[nodiscard]] Extent within(RegId bound, bool is_wide) const {
    return {.bound = bound, .is_wide = is_wide, .blocks = blocks, .threads = threads, .each = each};
  }
};

Origin of_special(Special special) {
  Origin origin;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto is = [&](Special x) { return special == ptx::along(x, axis); };
    if (is(Special::ctaid_x)) origin.blocks = 1U << axis;
    if (is(Special::tid_x)) origin.threads = 1U << axis;
    if (is(Special::ctaid_x) || is(Special::tid_x) || is(Special::ntid_x) || is(Special::nctaid_x))
      return origin;
  }
  origin.is_launch = false;
  return origin;
}

std::optional<std::uint64_t> constant(const Arg& arg) {
  if (arg.kind != Arg::Kind::imm) return std::nullopt;
  return arg.value;
}

class Walk {
public:
  explicit Walk(const ptx::Body& body) : body_(body), origins_(body.registers.size()) {}

  void pass(const Inst& inst) {
    Origin made = computed(inst);
    if (inst.op == Op::setp) compare(inst, made);
    for (const Arg& arg : body_.dst(inst))
      if (arg.kind == Arg::Kind::reg) origins_[arg.id] = made;
  }

  [[nodiscard]] const Origin& of(RegId reg) const { return origins_[reg]; }
  [[nodiscard]] bool has_diagonal() const { return has_diagonal_; }

private:
  [[nodiscard]] Origin of(const Arg& arg) const {
    if (arg.kind == Arg::Kind::reg) return origins_[arg.id];
    if (arg.kind == Arg::Kind::special) return of_special(arg.special);
    return {};
  }

  static void add(Origin& to, const Origin& from) {
    if (from.threads != 0) to.each = to.threads == 0 ? from.each : std::min(to.each, from.each);
    to.blocks |= from.blocks;
    to.threads |= from.threads;
    to.is_sum = to.is_sum && from.is_sum;
    to.is_launch = to.is_launch && from.is_launch;
    to.has_parameter = to.has_parameter || from.has_parameter;
    to.compared.insert(to.compared.end(), from.compared.begin(), from.compared.end());
    to.sides.insert(to.sides.end(), from.sides.begin(), from.sides.end());
  }

  // Times a constant, or the size of a block or of the grid, by which indices are numbered through.
  [[nodiscard]] Origin product(const Arg& a, const Arg& b) const {
    const Origin one = of(a), other = of(b);
    Origin made = one;
    add(made, other);
    made.is_sum = made.is_sum && !(one.has_index() && other.has_index());
    for (const auto& [index, by] : {std::pair(&one, &b), std::pair(&other, &a)})
      if (const auto times = constant(*by); times && index->threads != 0) scale(made, *times);
    return made;
  }

  static void scale(Origin& origin, std::uint64_t by) {
    origin.is_sum = origin.is_sum && by != 0 && by <= most_each && origin.each <= most_each;
    origin.each *= by;
  }

  [[nodiscard]] Origin computed(const Inst& inst) const {
    const std::span<const Arg> src = body_.src(inst);
    Origin made;
    if (inst.op == Op::mul || inst.op == Op::mad) {
      made = product(src[0], src[1]);
      if (inst.op == Op::mad) add(made, of(src[2]));
    } else {
      for (const Arg& arg : src)
        add(made, of(arg));
    }
    if (inst.op == Op::ld) {
      made.has_parameter = true;
      made.is_launch = made.is_launch && inst.mods.space == ptx::Space::param;
    }
    if (inst.op == Op::shl) {
      const auto bits = constant(src[1]);
      made.is_sum = made.is_sum && bits && *bits < 32;
      if (made.is_sum && made.threads != 0) scale(made, std::uint64_t{1} << *bits);
    }
    if (inst.guard != ptx::none || !is_sum(inst)) made.is_sum = false;
    if (inst.guard != ptx::none) made.is_launch = false;
    return made;
  }

  static bool is_sum(const Inst& inst) {
    switch (inst.op) {
    case Op::mov:
    case Op::cvt:
    case Op::add:
    case Op::sub:
    case Op::shl:
    case Op::ld: return true;
    case Op::mul:
    case Op::mad: return inst.mods.half != ptx::Half::hi;
    default: return false;
    }
  }

  void compare(const Inst& inst, Origin& made) {
    const std::span<const Arg> src = body_.src(inst);
    const Type type = inst.mods.type;
    const bool is_wide = type == Type::u64 || type == Type::s64;
    if (src.size() < 2 || !(is_wide || type == Type::u32 || type == Type::s32)) return;
    const Origin one = of(src[0]), other = of(src[1]);
    const bool has_order =
        inst.mods.compare != ptx::Compare::eq && inst.mods.compare != ptx::Compare::ne;
    if (has_order && one.is_place() && other.is_place() && one.blocks != 0 && other.blocks != 0 &&
        (one.blocks & other.blocks) == 0) {
      has_diagonal_ = true;
      made.sides.push_back({one.within(ptx::none, is_wide), other.within(ptx::none, is_wide)});
    }
    for (unsigned side = 0; side < 2; ++side) {
      const Origin bound = of(src[side]), place = of(src[1 - side]);
      if (src[side].kind != Arg::Kind::reg || !bound.is_bound() || !place.is_place()) continue;
      made.compared.push_back(place.within(src[side].id, is_wide));
    }
  }

  const ptx::Body& body_;
  std::vector<Origin> origins_;
  bool has_diagonal_ = false;
};

unsigned axes_read(const ptx::Body& body, Special x) {
  unsigned axes = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    axes |= unsigned{ptx::reads_special(body, ptx::along(x, axis))} << axis;
  return axes;
}

// What bounds the places: what they are compared with, and beside a diagonal what the other side
// is.
std::vector<Extent> bounds(const Origin& origin) {
  std::vector<Extent> all = origin.compared;
  for (const Diagonal& sides : origin.sides)
    for (unsigned side = 0; side < 2; ++side)
      for (const Extent& extent : origin.compared)
        if (extent.blocks == sides[1 - side].blocks) {
          all.push_back(sides[side]);
          all.back().bound = extent.bound;
          all.back().is_wide = extent.is_wide;
        }
  return all;
}

} // namespace

std::vector<Extent> extents(const ptx::Body& body, InstId exit,
                            const std::array<unsigned, 3>& factors) {
  if (exit >= body.insts.size() || body.insts[exit].guard == ptx::none) return {};
  Walk walk(body);
  for (InstId n = 0; n < exit; ++n)
    walk.pass(body.insts[n]);
  const unsigned blocks = axes_read(body, Special::ctaid_x);
  const unsigned threads = axes_read(body, Special::tid_x);
  unsigned left = blocks | threads;
  std::vector<Extent> found;
  for (const Extent& extent : bounds(walk.of(body.insts[exit].guard))) {
    // A block for each row, say, is no thread for each row.
    if ((left & extent.blocks) == 0 || (threads & extent.blocks) != extent.threads) continue;
    found.push_back(extent);
    left &= ~extent.blocks;
  }
  if (left != 0 || found.empty()) return {};
  for (Extent& extent : found)
    for (unsigned axis = 0; found.size() > 1 && axis < 3; ++axis)
      if (factors[axis] > 1 && extent.blocks == 1U << axis)
        extent.shift = std::bit_width(factors[axis]) - 1 +
                       (extent.threads != 0 ? numbers::coarsen::usual_rows : 1);
  return found;
}

double share_at_work(const ptx::Body& body) {
  Walk walk(body);
  for (const Inst& inst : body.insts)
    walk.pass(inst);
  return walk.has_diagonal() ? 0.5 : 1;
}

std::uint64_t product_of_threads(const std::vector<Extent>& extents, std::uint64_t threads) {
  unsigned shift = 0;
  for (const Extent& extent : extents) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40; // threads, before they are times `each`
    threads = std::min(most, threads) * std::min(extent.each, most_each);
    shift += extent.shift;
  }
  return ((threads - 1) >> shift) + 1;
}

} // namespace ptxasw::rewrite
