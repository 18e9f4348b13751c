// Looks for fields of one offset and width.
#include "passes/time_tile/polynomial/equal_fields.hpp"

#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <set>
#include <tuple>

namespace ptxasw::passes {
namespace {

using contract::Token;
using emulator::AtomKind;
using sym::Term;

// Where in the parameter space the pointers lie that accesses begin at.
std::set<std::uint64_t> pointers(emulator::Kernel& kernel) {
  sym::Context& c = *kernel.context;
  std::set<std::uint64_t> found;
  for (const emulator::Event& event : kernel.trace.events) {
    if (!event.address.valid()) continue;
    for (const sym::Monomial& monomial : c.poly(event.address).terms) {
      if (monomial.coefficient != 1 || monomial.factors.size() != 1) continue;
      for (const Term atom : c.atoms(monomial.factors[0])) // one, or those of a choice
        if (const sym::Atom& info = c.atom_info(atom);
            info.kind == static_cast<std::uint32_t>(AtomKind::parameter))
          found.insert(info.tag);
    }
  }
  return found;
}

bool is_integer(ptx::Type type) {
  return type != ptx::Type::f32 && type != ptx::Type::f64 &&
         (ptx::bit_width(type) == 32 || ptx::bit_width(type) == 64);
}

} // namespace

EqualFields find_equal_fields(emulator::Kernel& kernel) {
  const std::set<std::uint64_t> begins = pointers(kernel);
  std::map<std::tuple<std::uint64_t, std::uint64_t, unsigned>, std::set<unsigned>> alike;
  const ptx::Body& body = kernel.body;
  for (const ptx::Inst& inst : body.insts) {
    if (ptx::group(inst.op) != ptx::Group::load || inst.mods.space != ptx::Space::param ||
        !is_integer(inst.mods.type))
      continue;
    const ptx::Address& address = body.addr(inst)[0];
    if (address.base.kind != ptx::Arg::Kind::symbol) continue;
    const ptx::Symbol& symbol = body.symbols[address.base.id];
    const unsigned width = ptx::bit_width(inst.mods.type) / 8;
    if (symbol.kind != ptx::Symbol::Kind::parameter || symbol.size <= 8) continue;
    for (std::size_t n = 0; n < body.dst(inst).size(); ++n) {
      const std::uint64_t byte =
          address.base.value + static_cast<std::uint64_t>(address.offset) + n * width;
      if (byte + width <= symbol.size && byte < 0x10000 && !begins.contains(symbol.offset + byte))
        alike[{symbol.size, byte, width}].insert(
            contract::part(symbol.index, static_cast<unsigned>(byte)));
    }
  }
  EqualFields made;
  for (const auto& [what, parts] : alike) {
    const auto as = std::get<2>(what) == 4 ? Token::Type::s32 : Token::Type::s64;
    const auto value = [&](unsigned part) {
      return contract::Expression{{.kind = Token::Kind::parameter, .as = as, .value = part}};
    };
    const unsigned first = *parts.begin();
    for (const unsigned part : parts) {
      if (part == first) continue;
      made.first.emplace(part, first);
      add_equal(made.conditions, value(part), value(first), "its arrays differ in size");
    }
  }
  return made;
}

} // namespace ptxasw::passes
