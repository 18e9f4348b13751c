// A flow-insensitive walk: a register holds a parameter's pointer if it comes from its ld.param
// through moves, conversions of the address and additions.
#include "simt/guess.hpp"

#include "simt/code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::simt {

namespace {

using ptx::Op;

using Holders = std::vector<std::vector<bool>>; // per register: uses that it may hold
using Uses = std::vector<ParameterUse>;

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

// Calls visit(parameter, offset, destination number) for what a ld.param of the kernel's own reads.
template <class Visit>
void for_loaded_parameters(const ptx::Body& body, const ptx::Inst& inst, Visit&& visit) {
  if (inst.op != Op::ld || inst.addr.count != 1) return;
  const ptx::Address& address = body.addr(inst)[0];
  if (address.base.kind != ptx::Arg::Kind::symbol) return;
  const ptx::Symbol& symbol = body.symbols[address.base.id];
  if (symbol.kind != ptx::Symbol::Kind::parameter) return;
  const std::uint64_t first = address.base.value + static_cast<std::uint64_t>(address.offset);
  for (std::uint32_t e = 0; e < inst.mods.vector; ++e)
    visit(symbol.index, first + std::uint64_t{e} * ptx::bit_width(inst.mods.type) / 8, e);
}

// The register may hold these, too. True: that was not known.
bool give(const std::vector<bool>& held, const ptx::Arg& reg, Holders& holders) {
  if (reg.kind != ptx::Arg::Kind::reg) return false;
  std::vector<bool>& known = holders[reg.id];
  bool changed = false;
  for (std::size_t p = 0; p < held.size(); ++p) {
    if (!held[p] || known[p]) continue;
    known[p] = changed = true;
  }
  return changed;
}

bool flow(const ptx::Body& body, const ptx::Inst& inst, const Uses& uses, Holders& holders) {
  for_loaded_parameters(body, inst, [&](std::uint32_t parameter, std::uint64_t offset, unsigned n) {
    if (n >= inst.dst.count) return;
    std::vector<bool> loaded;
    for (const ParameterUse& use : uses)
      loaded.push_back(use.parameter == parameter && use.offset == offset);
    give(loaded, body.dst(inst)[n], holders);
  });
  if (!carries_pointers(inst)) return false;
  bool changed = false;
  const auto src = body.src(inst);
  // Of a multiply-add only the addend can be a pointer.
  for (std::size_t i = inst.op == Op::mad ? 2 : 0; i < src.size(); ++i) {
    if (src[i].kind != ptx::Arg::Kind::reg) continue;
    const std::vector<bool> held = holders[src[i].id];
    for (const ptx::Arg& dst : body.dst(inst))
      changed |= give(held, dst, holders);
  }
  return changed;
}

bool touches_memory(Op op) {
  return op == Op::ld || op == Op::ldu || op == Op::st || op == Op::atom || op == Op::red;
}

// A use for each parameter, and one for each field of a struct that is read.
Uses find_uses(const Program& program) {
  const Code& code = *program.codes.front();
  const auto& parameters = program.kernel->parameters;
  Uses uses;
  for (std::uint32_t p = 0; p < parameters.size(); ++p)
    if (!parameters[p].is_array) uses.push_back({.parameter = p, .type = parameters[p].type});
  for (const ptx::Inst& inst : code.body.insts)
    for_loaded_parameters(code.body, inst, [&](std::uint32_t p, std::uint64_t offset, auto) {
      const bool known = std::ranges::any_of(uses, [&](const ParameterUse& use) {
        return use.parameter == p && (!use.field || use.offset == offset);
      });
      if (!known)
        uses.push_back({.parameter = p, .offset = offset, .type = inst.mods.type, .field = true});
    });
  std::ranges::sort(uses, {},
                    [](const ParameterUse& use) { return std::pair(use.parameter, use.offset); });
  for (ParameterUse& use : uses)
    use.place = code.parameters[use.parameter].offset + use.offset;
  return uses;
}

std::string random_text(ptx::Type element, std::uint64_t buffer_bytes, Random& random) {
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

Uses parameter_uses(const Program& program) {
  const ptx::Body& body = program.codes.front()->body;
  Uses uses = find_uses(program);
  const std::size_t count = uses.size();
  Holders holders(body.registers.size(), std::vector<bool>(count, false));
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Inst& inst : body.insts)
      changed |= flow(body, inst, uses, holders);
  }
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
  for (ParameterUse& use : uses)
    use.pointer &= ptx::bit_width(use.type) == 64;
  return uses;
}

namespace {

std::string scalar_text(const ParameterUse& use, const Guess& guess, Random& random) {
  if (ptx::is_float(use.type))
    return fmt::format("{:.3f}", static_cast<double>(random.below(4000)) / 1000 - 2);
  std::string made = integer_text(guess, random);
  const auto fixed = guess.fixed.find(use.place);
  return fixed == guess.fixed.end() ? made : std::to_string(fixed->second);
}

// "u32:" in front of a number that is a field.
std::string type_text(ptx::Type type) {
  const bool floating = ptx::is_float(type) && ptx::bit_width(type) >= 16;
  return fmt::format("{}{}:", floating ? 'f' : 'u', std::clamp(ptx::bit_width(type), 8U, 64U));
}

std::string name_of(const ParameterUse& use) {
  return use.field ? fmt::format("{}.{}", use.parameter, use.offset)
                   : std::to_string(use.parameter);
}

} // namespace

std::vector<std::string> guess_arguments(const Program& program, const Uses& uses,
                                         const Guess& guess, Random& random) {
  const auto& parameters = program.kernel->parameters;
  std::vector<std::string> texts(parameters.size());
  const std::uint64_t pointer_offset = guess.buffer_bytes / 4;
  std::vector<std::string> buffers; // their names
  for (const ParameterUse& use : uses) {
    std::string text;
    if (use.pointer) {
      const std::uint64_t shift = random.one_in(3) ? 16 * random.below(8) : 0;
      if (guess.alias && !buffers.empty() && !random.one_in(3)) {
        const std::string& other = buffers[random.below(buffers.size())];
        const std::uint64_t apart = random.one_in(2) ? 0 : 16 * random.below(32);
        text = fmt::format("same:{}+{}", other, pointer_offset + apart);
      } else {
        buffers.push_back(name_of(use));
        text = fmt::format("{}+{}", random_text(use.element, guess.buffer_bytes, random),
                           pointer_offset + shift);
      }
    } else {
      text = (use.field ? type_text(use.type) : "") + scalar_text(use, guess, random);
    }
    std::string& whole = texts[use.parameter];
    if (!use.field)
      whole = std::move(text);
    else
      whole += fmt::format("{}{}={}", whole.empty() ? "{" : ";", use.offset, text);
  }
  for (std::size_t p = 0; p < texts.size(); ++p)
    if (parameters[p].is_array) texts[p] += texts[p].empty() ? "{}" : "}";
  return texts;
}

} // namespace ptxasw::simt
