// Follows what is computed from indices to the comparisons.
#include "passes/coarsen/cost/active_blocks.hpp"

#include <span>
#include <vector>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::Op;
using ptx::Special;
using ptx::Type;

namespace {

// What a register hangs on.
struct Origin {
  unsigned blocks = 0, threads = 0; // bits: the axes whose indices it is a sum of
  bool is_sum = true;               // otherwise it hangs on them in another way
  bool is_launch = true;            // nothing else differs between the threads of a launch
  bool has_parameter = false;

  [[nodiscard]] bool has_index() const { return (blocks | threads) != 0; }
  [[nodiscard]] bool is_place() const { return is_sum && is_launch && !has_parameter; }
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

class Walk {
public:
  explicit Walk(const ptx::Body& body) : body_(body), origins_(body.registers.size()) {}

  void pass(const Inst& inst) {
    if (inst.op == Op::setp) compare(inst);
    const Origin made = computed(inst);
    for (const Arg& arg : body_.dst(inst))
      if (arg.kind == Arg::Kind::reg) origins_[arg.id] = made;
  }

  [[nodiscard]] bool has_diagonal() const { return has_diagonal_; }

private:
  [[nodiscard]] Origin of(const Arg& arg) const {
    if (arg.kind == Arg::Kind::reg) return origins_[arg.id];
    if (arg.kind == Arg::Kind::special) return of_special(arg.special);
    return {};
  }

  static void add(Origin& to, const Origin& from) {
    to.blocks |= from.blocks;
    to.threads |= from.threads;
    to.is_sum = to.is_sum && from.is_sum;
    to.is_launch = to.is_launch && from.is_launch;
    to.has_parameter = to.has_parameter || from.has_parameter;
  }

  [[nodiscard]] Origin computed(const Inst& inst) const {
    const std::span<const Arg> src = body_.src(inst);
    Origin made;
    for (const Arg& arg : src)
      add(made, of(arg));
    if ((inst.op == Op::mul || inst.op == Op::mad) && of(src[0]).has_index() &&
        of(src[1]).has_index())
      made.is_sum = false;
    if (inst.op == Op::shl && of(src[1]).has_index()) made.is_sum = false;
    if (inst.op == Op::ld) {
      made.has_parameter = true;
      made.is_launch = made.is_launch && inst.mods.space == ptx::Space::param;
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

  void compare(const Inst& inst) {
    const std::span<const Arg> src = body_.src(inst);
    const Type type = inst.mods.type;
    const bool is_integer =
        type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64;
    if (src.size() < 2 || !is_integer || inst.mods.compare == ptx::Compare::eq ||
        inst.mods.compare == ptx::Compare::ne)
      return;
    const Origin one = of(src[0]), other = of(src[1]);
    has_diagonal_ |= one.is_place() && other.is_place() && one.blocks != 0 && other.blocks != 0 &&
                     (one.blocks & other.blocks) == 0;
  }

  const ptx::Body& body_;
  std::vector<Origin> origins_;
  bool has_diagonal_ = false;
};

} // namespace

double share_at_work(const ptx::Body& body) {
  Walk walk(body);
  for (const Inst& inst : body.insts)
    walk.pass(inst);
  return walk.has_diagonal() ? 0.5 : 1;
}

} // namespace ptxasw::passes
