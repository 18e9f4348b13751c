// Compares first; only then is anything moved or renumbered.
#include "emulator/carry_over.hpp"

#include "emulator/slice.hpp"
#include "ptx/written.hpp"
#include "symbolic/renumber.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ptxasw::emulator {

using analysis::BlockId;
using ptx::Arg;
using ptx::Body;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;
using sym::Term;

namespace {

// Which number of the new body stands for one of the old.
class Renaming {
public:
  Renaming(std::size_t old_size, std::size_t new_size)
      : there_(old_size, ptx::none), back_(new_size, ptx::none) {}

  // False if either is paired with another one already.
  bool pair(std::uint32_t old, std::uint32_t now) {
    if (there_[old] == ptx::none && back_[now] == ptx::none) {
      there_[old] = now;
      back_[now] = old;
    }
    return there_[old] == now && back_[now] == old;
  }
  // `none` for what has no partner.
  [[nodiscard]] std::uint32_t operator()(std::uint32_t old) const {
    return old < there_.size() ? there_[old] : ptx::none;
  }

private:
  std::vector<std::uint32_t> there_, back_;
};

// See Instructions::run: the others change nothing.
bool is_looked_at(const Body& body, const Slice& slice, const Inst& inst) {
  const Group group = ptx::group(inst.op);
  if (group != Group::pure && group != Group::hint && group != Group::stack) return true;
  return std::ranges::any_of(body.dst(inst), [&](const Arg& dst) {
    return dst.kind == Arg::Kind::reg && slice.needs(dst.id);
  });
}

bool same_blocks(const analysis::Cfg& a, const analysis::Cfg& b) {
  const auto same = [](const analysis::Block& x, const analysis::Block& y) {
    return x.succs == y.succs && x.preds == y.preds;
  };
  return std::ranges::equal(a.blocks, b.blocks, same) && a.rpo == b.rpo && a.idom == b.idom &&
         a.ipdom == b.ipdom;
}

bool same_loops(const analysis::LoopForest& a, const analysis::LoopForest& b) {
  const auto parts = [](const analysis::Loop& l) {
    return std::tie(l.header, l.blocks, l.latches, l.exits, l.parent, l.depth);
  };
  const auto same = [&](const auto& x, const auto& y) { return parts(x) == parts(y); };
  return std::ranges::equal(a.loops, b.loops, same) && a.innermost == b.innermost &&
         a.irreducible == b.irreducible;
}

bool same_symbols(const Body& a, const Body& b) {
  const auto parts = [](const ptx::Symbol& s) {
    return std::tie(s.name, s.kind, s.space, s.type, s.size, s.alignment, s.index, s.offset);
  };
  return std::ranges::equal(a.symbols, b.symbols,
                            [&](const auto& x, const auto& y) { return parts(x) == parts(y); });
}

class Comparison {
public:
  Comparison(const Kernel& old, const Kernel& now)
      : registers(old.body.registers.size(), now.body.registers.size()),
        instructions(old.body.insts.size(), now.body.insts.size()), old_(old), now_(now) {}

  bool run(const Slice& before, const Slice& after) {
    return same_blocks(old_.cfg, now_.cfg) && same_loops(old_.loops, now_.loops) &&
           same_symbols(old_.body, now_.body) && same_instructions(before, after) &&
           same_slice(before, after) && varies_alike();
  }

  Renaming registers, instructions;

  // Of an instruction that is the first of its block; behind the last one stands the exit.
  [[nodiscard]] InstId first_of_block(InstId first) const {
    const auto& blocks = old_.cfg.block_of;
    const BlockId b = first < blocks.size() ? blocks[first] : old_.cfg.exit();
    return now_.cfg.blocks[b].first;
  }

private:
  const Kernel &old_, &now_;

  bool same_instructions(const Slice& before, const Slice& after) {
    for (BlockId b = 0; b < old_.cfg.blocks.size(); ++b) {
      InstId i = old_.cfg.blocks[b].first, j = now_.cfg.blocks[b].first;
      const InstId i_end = old_.cfg.blocks[b].end, j_end = now_.cfg.blocks[b].end;
      while (true) {
        while (i < i_end && !is_looked_at(old_.body, before, old_.body.insts[i]))
          ++i;
        while (j < j_end && !is_looked_at(now_.body, after, now_.body.insts[j]))
          ++j;
        if (i == i_end || j == j_end) break;
        if (!same_instruction(i, j) || !instructions.pair(i, j)) return false;
        ++i, ++j;
      }
      if (i != i_end || j != j_end) return false;
    }
    return true;
  }

  bool same_instruction(InstId i, InstId j) {
    const Body &a = old_.body, &b = now_.body;
    const Inst &x = a.insts[i], &y = b.insts[j];
    const auto written = [](const Body& body, const Inst& inst) {
      return body.module->slice(ptx::range_of(body, inst));
    };
    const auto same = [&](const Arg& one, const Arg& other) { return same_arg(one, other); };
    const auto same_address = [&](const ptx::Address& one, const ptx::Address& other) {
      return one.offset == other.offset && same_arg(one.base, other.base);
    };
    return ptx::group(x.op) != Group::call && x.opaque == y.opaque &&
           written(a, x) == written(b, y) && ptx::line_of(a, x) == ptx::line_of(b, y) &&
           same_register(x.guard, y.guard) && std::ranges::equal(a.dst(x), b.dst(y), same) &&
           std::ranges::equal(a.src(x), b.src(y), same) &&
           std::ranges::equal(a.addr(x), b.addr(y), same_address) &&
           std::ranges::equal(a.returned(x), b.returned(y), same);
  }

  bool same_arg(const Arg& one, const Arg& other) {
    if (std::tie(one.kind, one.negated, one.special, one.value, one.literal, one.selector) !=
        std::tie(other.kind, other.negated, other.special, other.value, other.literal,
                 other.selector))
      return false;
    return one.kind == Arg::Kind::reg ? same_register(one.id, other.id) : one.id == other.id;
  }

  bool same_register(RegId one, RegId other) {
    if (one == ptx::none || other == ptx::none) return one == other;
    const ptx::Register &x = old_.body.registers[one], &y = now_.body.registers[other];
    return x.name == y.name && x.type == y.type && registers.pair(one, other);
  }

  bool same_slice(const Slice& before, const Slice& after) {
    if (before.calls || after.calls || before.registers.size() != after.registers.size())
      return false;
    for (std::size_t n = 0; n < before.registers.size(); ++n) {
      const RegId x = before.registers[n], y = after.registers[n];
      if (!same_register(x, y)) return false;
      for (const analysis::Loop& loop : old_.loops.loops)
        if (old_.liveness->live_in(loop.header, x) != now_.liveness->live_in(loop.header, y))
          return false;
    }
    return true;
  }

  [[nodiscard]] bool varies_alike() const {
    for (RegId reg = 0; reg < old_.body.registers.size(); ++reg)
      if (registers(reg) != ptx::none &&
          old_.uniformity.registers[reg] != now_.uniformity.registers[registers(reg)])
        return false;
    return old_.uniformity.loops == now_.uniformity.loops &&
           old_.uniformity.branches == now_.uniformity.branches;
  }
};

struct Renumbered {
  Term atom;
  std::uint32_t tag = 0, tag2 = 0;
};

// What atoms are to be called; none if one names what has no partner.
std::optional<std::vector<Renumbered>> renumbered(const sym::Context& context,
                                                  const Comparison& same) {
  std::vector<Renumbered> result;
  for (Term t{0}; t.id < context.node_count(); ++t.id) {
    if (context.kind(t) != sym::Kind::atom) continue;
    const sym::Atom& info = context.atom_info(t);
    Renumbered now{t, info.tag, info.tag2};
    bool known = true;
    const auto rename = [&](std::uint32_t& number, const Renaming& names) {
      if (number == ptx::none) return;
      number = names(number);
      known &= number != ptx::none;
    };
    switch (static_cast<AtomKind>(info.kind)) {
    case AtomKind::loaded: rename(now.tag, same.instructions); break;
    case AtomKind::unknown: // with an instruction its result's number, else a register
      if (info.tag == ptx::none)
        rename(now.tag2, same.registers);
      else
        rename(now.tag, same.instructions);
      break;
    case AtomKind::undefined: rename(now.tag, same.registers); break;
    case AtomKind::carried:
    case AtomKind::merged: rename(now.tag2, same.registers); break;
    default: break;
    }
    if (!known) return std::nullopt;
    if (now.tag != info.tag || now.tag2 != info.tag2) result.push_back(now);
  }
  return result;
}

Trace renamed(Trace trace, const Comparison& same) {
  for (Event& event : trace.events)
    event.inst = same.instructions(event.inst);
  for (Definition& definition : trace.definitions) {
    definition.reg = same.registers(definition.reg);
    definition.inst = definition.at_entry ? same.first_of_block(definition.inst)
                                          : same.instructions(definition.inst);
  }
  return trace;
}

} // namespace

std::optional<Kernel> carried_over(Kernel& earlier, const ptx::Module& module,
                                   const ptx::Function& function, Follow follow) {
  if (!earlier.trace.refused.empty() || earlier.context->exhausted()) return std::nullopt;
  Kernel kernel;
  kernel.body = ptx::resolve(module, function);
  if (function.has_opaque || !kernel.body.usable) return std::nullopt;
  kernel.cfg = analysis::build_cfg(kernel.body);
  kernel.loops = analysis::find_loops(kernel.cfg);
  if (kernel.loops.irreducible) return std::nullopt;
  kernel.liveness = std::make_unique<analysis::Liveness>(kernel.body, kernel.cfg);
  kernel.uniformity =
      analysis::find_uniformity(kernel.body, kernel.cfg, kernel.loops, *kernel.liveness);
  Comparison same(earlier, kernel);
  if (!same.run(slice_of(earlier.body, follow), slice_of(kernel.body, follow))) return std::nullopt;
  const auto atoms = renumbered(*earlier.context, same);
  if (!atoms) return std::nullopt;
  kernel.trace = renamed(std::move(earlier.trace), same);
  kernel.context = std::move(earlier.context);
  for (const Renumbered& now : *atoms)
    sym::renumber(*kernel.context, now.atom, now.tag, now.tag2);
  return kernel;
}

} // namespace ptxasw::emulator
