// A flow-insensitive walk: a register holds a parameter's pointer if it comes from its ld.param
// through moves, conversions of the address and additions.
#include "simt/guess.hpp"

#include "simt/code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::simt {

namespace {

using ptx::Op;

constexpr std::uint64_t buffer_bytes = std::uint64_t{1} << 17;
constexpr std::uint64_t pointer_offset = buffer_bytes / 4;

using Holders = std::vector<std::vector<bool>>; // per register: parameters that it may hold

bool carries_pointers(const ptx::Inst& inst) {
  switch (inst.op) {
  case Op::mov:
  case Op::cvta:
  case Op::add:
  case Op::sub:
  case Op::selp: return true;
  default: return inst.op == Op::mad;
  }
}

bool flow(const ptx::Body& body, const ptx::Inst& inst, Holders& holders) {
  bool changed = false;
  const auto give = [&](const std::vector<bool>& what) {
    for (const ptx::Arg& dst : body.dst(inst)) {
      if (dst.kind != ptx::Arg::Kind::reg) continue;
      auto& to = holders[dst.id];
      for (std::size_t p = 0; p < what.size(); ++p) {
        if (!what[p] || to[p]) continue;
        to[p] = true;
        changed = true;
      }
    }
  };
  if (inst.op == Op::ld && inst.addr.count == 1) {
    const ptx::Arg& base = body.addr(inst)[0].base;
    if (base.kind != ptx::Arg::Kind::symbol) return false;
    const ptx::Symbol& symbol = body.symbols[base.id];
    if (symbol.kind != ptx::Symbol::Kind::parameter) return false;
    std::vector<bool> what(body.function->parameters.size(), false);
    what[symbol.index] = true;
    give(what);
    return changed;
  }
  if (!carries_pointers(inst)) return false;
  const auto src = body.src(inst);
  // Of a multiply-add only the addend can be a pointer.
  for (std::size_t i = inst.op == Op::mad ? 2 : 0; i < src.size(); ++i)
    if (src[i].kind == ptx::Arg::Kind::reg) give(std::vector<bool>(holders[src[i].id]));
  return changed;
}

bool touches_memory(Op op) {
  return op == Op::ld || op == Op::ldu || op == Op::st || op == Op::atom || op == Op::red;
}

std::string random_text(ptx::Type element, Random& random) {
  const unsigned width = std::max(ptx::bit_width(element), 8U);
  const std::uint64_t count = buffer_bytes * 8 / width;
  const std::uint64_t seed = random.below(100000);
  if (ptx::is_float(element) && (width == 16 || width == 32 || width == 64) && !random.one_in(8))
    return fmt::format("random:f{}:{}:{}", width, count, seed);
  const unsigned unit = std::min(width, 64U);
  const std::uint64_t units = buffer_bytes * 8 / unit;
  if (random.one_in(2)) return fmt::format("random:u{}:{}:{}:{}", unit, units, seed, 64);
  return fmt::format("random:u{}:{}:{}:bits", unit, units, seed);
}

std::string integer_text(const Guess& guess, Random& random) {
  const std::uint64_t x = std::uint64_t{guess.grid.x} * guess.block.x;
  const std::uint64_t y = std::uint64_t{guess.grid.y} * guess.block.y;
  const std::uint64_t z = std::uint64_t{guess.grid.z} * guess.block.z;
  const std::uint64_t choices[] = {
      x,  x + 2, x > 3 ? x - 3 : 1,    x - x / 4,          y + 1, y + 3, z + 2, x * y * z, 33,
      16, 5,     1 + random.below(40), x + random.below(7)};
  const std::uint64_t most[] = {4096, 128, 40, 8, 2};
  const std::uint64_t chosen = choices[random.below(std::size(choices))];
  return std::to_string(std::min(chosen, most[std::min<std::size_t>(guess.attempt, 4)]));
}

} // namespace

std::vector<ParameterUse> parameter_uses(const Program& program) {
  const ptx::Body& body = program.codes.front()->body;
  const std::size_t count = body.function->parameters.size();
  Holders holders(body.registers.size(), std::vector<bool>(count, false));
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Inst& inst : body.insts)
      changed |= flow(body, inst, holders);
  }
  std::vector<ParameterUse> uses(count);
  for (const ptx::Inst& inst : body.insts) {
    const auto used = [&](const ptx::Arg& arg, bool as_address) {
      if (arg.kind != ptx::Arg::Kind::reg) return;
      for (std::size_t p = 0; p < count; ++p) {
        if (!holders[arg.id][p]) continue;
        uses[p].pointer = true;
        if (as_address && uses[p].element == ptx::Type::none) uses[p].element = inst.mods.type;
      }
    };
    if (touches_memory(inst.op) && inst.mods.space != ptx::Space::param)
      for (const ptx::Address& address : body.addr(inst))
        used(address.base, true);
    if (inst.op == Op::cvta)
      for (const ptx::Arg& arg : body.src(inst))
        used(arg, false);
  }
  for (std::size_t p = 0; p < count; ++p)
    uses[p].pointer &= ptx::bit_width(body.function->parameters[p].type) == 64;
  return uses;
}

std::vector<std::string> guess_arguments(const Program& program,
                                         const std::vector<ParameterUse>& uses, const Guess& guess,
                                         Random& random) {
  std::vector<std::string> texts;
  std::vector<std::size_t> buffers;
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const ptx::Variable& parameter = program.kernel->parameters[p];
    if (uses[p].pointer) {
      const std::uint64_t shift = random.one_in(3) ? 16 * random.below(8) : 0;
      if (guess.alias && !buffers.empty() && !random.one_in(3)) {
        const std::size_t other = buffers[random.below(buffers.size())];
        const std::uint64_t apart = random.one_in(2) ? 0 : 16 * random.below(32);
        texts.push_back(fmt::format("same:{}+{}", other, pointer_offset + apart));
        continue;
      }
      buffers.push_back(p);
      texts.push_back(
          fmt::format("{}+{}", random_text(uses[p].element, random), pointer_offset + shift));
    } else if (parameter.is_array) {
      texts.emplace_back("0");
    } else if (ptx::is_float(parameter.type)) {
      texts.push_back(fmt::format("{:.3f}", static_cast<double>(random.below(4000)) / 1000 - 2));
    } else {
      texts.push_back(integer_text(guess, random));
    }
  }
  return texts;
}

} // namespace ptxasw::simt
