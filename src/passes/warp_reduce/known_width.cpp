// The width as the iteration begins with it, and what is made of it on the way.
#include "passes/warp_reduce/known_width.hpp"

#include <bit>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using Known = std::optional<std::uint32_t>;

namespace {

struct Iteration {
  const emulator::Kernel& k;
  const TreeReduction& tree;
  std::uint32_t width;

  // What an operand of 32 bits is.
  [[nodiscard]] Known known(const Arg& arg, InstId at) const {
    if (arg.kind == Arg::Kind::imm) return static_cast<std::uint32_t>(arg.value);
    if (arg.kind != Arg::Kind::reg) return {};
    InstId made = ptx::none;
    for (InstId i = tree.begin; i < at; ++i)
      if (analysis::written(k.body, i, i + 1, arg.id)) {
        if (made != ptx::none) return {}; // in two places
        made = i;
      }
    if (made != ptx::none) return k.cfg.dominates_inst(made, at) ? result(made) : Known{};
    return arg.id == tree.width_register ? Known(width) : Known{};
  }

  [[nodiscard]] Known result(InstId id) const {
    const Inst& inst = k.body.insts[id];
    const auto src = k.body.src(inst);
    if (inst.guard != ptx::none || inst.opaque || inst.mods.cc || inst.mods.sat ||
        ptx::bit_width(inst.mods.type) != 32 || ptx::is_float(inst.mods.type))
      return {};
    if (inst.op == ptx::Op::mov && src.size() == 1) return known(src[0], id);
    if (src.size() != 2) return {};
    const Known a = known(src[0], id), b = known(src[1], id);
    if (!a || !b) return {};
    switch (inst.op) {
    case ptx::Op::add: return *a + *b;
    case ptx::Op::shl: return *b < 32 ? *a << *b : 0;
    case ptx::Op::mul: return inst.mods.half == ptx::Half::lo ? Known(*a * *b) : Known{};
    default: return {};
    }
  }
};

} // namespace

Known known_divisor(const emulator::Kernel& kernel, const TreeReduction& tree, std::uint32_t width,
                    InstId id) {
  const Inst& inst = kernel.body.insts[id];
  const auto src = kernel.body.src(inst);
  const ptx::Type type = inst.mods.type;
  if (width == 0 || (inst.op != ptx::Op::rem && inst.op != ptx::Op::div) || src.size() != 2 ||
      src[0].kind != Arg::Kind::reg || inst.guard != ptx::none ||
      (type != ptx::Type::u32 && type != ptx::Type::s32))
    return {};
  const Known by = Iteration{kernel, tree, width}.known(src[1], id);
  return by && *by < 1U << 16 && std::has_single_bit(*by) ? by : Known{};
}

} // namespace ptxasw::passes
