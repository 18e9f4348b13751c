// Trying points, and checking those that a solver proposes. Whatever comes out of here has been
// evaluated on the original question: a wrong guess costs time, never a wrong answer.
#include "symbolic/witness.hpp"

#include "symbolic/bits.hpp"

#include <algorithm>
#include <tuple>

namespace ptxasw::sym {

namespace {

constexpr unsigned points_tried = 40;

// splitmix64
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

private:
  std::uint64_t state_;
};

// Sizes and indices are small far more often than random bits are, so a value draws a magnitude
// first; and wrap-around hides at the ends and in the middle of a range.
Bits draw(const Atom& atom, unsigned point, Random& random) {
  const Bits span = atom.hi - atom.lo;
  if (point == 0) return atom.lo;
  if (point == 1) return atom.hi;
  const Bits any = Bits{random.next()} << 64 | random.next();
  switch (point % 2 == 0 ? 0 : random.next() % 4) {
  case 1: return atom.hi - std::min(span, any % 3);
  case 2: return atom.lo + std::min(span, span / 2 + any % 5 - std::min(span / 2, Bits{2}));
  default: break;
  }
  const auto magnitude = static_cast<unsigned>(random.next() % (bit_length(span) + 1U));
  return atom.lo + std::min(any & low_mask(magnitude), span);
}

Bits any_function(FunctionKey key, unsigned width, std::span<const Bits> args) {
  Random random(key ^ width);
  std::uint64_t hash = random.next();
  for (const Bits b : args)
    hash =
        Random(hash ^ static_cast<std::uint64_t>(b) ^ static_cast<std::uint64_t>(b >> 64)).next();
  return (Bits{hash} << 64 | Random(hash).next()) & low_mask(width);
}

bool refutes(const Context& c, std::span<const Term> facts, Term goal,
             const Context::AtomValue& atoms, const Context::FunctionValue& functions) {
  if (c.evaluate(goal, atoms, functions) != 0) return false;
  return std::ranges::all_of(facts,
                             [&](Term fact) { return c.evaluate(fact, atoms, functions) != 0; });
}

bool within_bounds(const Context& c, const Witness& witness) {
  return std::ranges::all_of(witness, [&](const auto& entry) {
    const Atom& atom = c.atom_info(entry.first);
    return atom.lo <= entry.second && entry.second <= atom.hi;
  });
}

std::vector<Term> atoms_of(const Context& c, std::span<const Term> facts, Term goal) {
  std::vector<Term> atoms = c.atoms(goal);
  for (const Term fact : facts) {
    const std::vector<Term> more = c.atoms(fact);
    atoms.insert(atoms.end(), more.begin(), more.end());
  }
  std::ranges::sort(atoms);
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
  return atoms;
}

// The values of replaced atoms follow from those of the others; only the wanted ones are kept.
void carry_back(const Context& c, const FactRewriter::Result& rewritten,
                std::span<const Term> wanted, const Context::FunctionValue& functions,
                Witness& witness) {
  const auto value = [&](const Atom& atom, Term t) {
    const auto place = witness.find(t);
    return place != witness.end() ? place->second : atom.lo;
  };
  for (auto step = rewritten.replaced.rbegin(); step != rewritten.replaced.rend(); ++step)
    witness[step->first] = c.evaluate(step->second, value, functions);
  for (const Term t : wanted)
    witness.try_emplace(t, c.atom_info(t).lo);
  std::erase_if(
      witness, [&](const auto& entry) { return !std::ranges::binary_search(wanted, entry.first); });
}

} // namespace

std::optional<Witness> find_witness(const Context& c, std::span<const Term> facts, Term goal,
                                    const FactRewriter::Result& rewritten) {
  const std::vector<Term> wanted = atoms_of(c, facts, goal);
  std::vector<Term> atoms = atoms_of(c, rewritten.facts, rewritten.goal);
  atoms.insert(atoms.end(), wanted.begin(), wanted.end());
  Random random(1);
  for (unsigned point = 0; point < points_tried; ++point) {
    Witness witness;
    for (const Term t : atoms)
      if (!witness.contains(t)) witness.emplace(t, draw(c.atom_info(t), point, random));
    const auto value = [&](const Atom&, Term t) { return witness.at(t); };
    if (!refutes(c, rewritten.facts, rewritten.goal, value, any_function)) continue;
    carry_back(c, rewritten, wanted, any_function, witness);
    if (within_bounds(c, witness) && refutes(c, facts, goal, value, any_function)) return witness;
  }
  return std::nullopt;
}

std::optional<Witness> verify_witness(const Context& c, std::span<const Term> facts, Term goal,
                                      const FactRewriter::Result& rewritten,
                                      std::span<const std::pair<Term, Bits>> values) {
  Witness witness;
  std::map<std::tuple<FunctionKey, unsigned, std::vector<Bits>>, Bits> graph;
  bool consistent = true;
  const auto atom_value = [&](const Atom& atom, Term t) {
    const auto place = witness.find(t);
    return place != witness.end() ? place->second : atom.lo;
  };
  const auto function_value = [&](FunctionKey key, unsigned width, std::span<const Bits> args) {
    const auto place = graph.find({key, width, {args.begin(), args.end()}});
    return place != graph.end() ? place->second : any_function(key, width, args);
  };
  for (const auto& [t, value] : values) {
    if (c.kind(t) == Kind::atom) {
      witness[t] = value;
      continue;
    }
    std::vector<Bits> args;
    for (const Term arg : c.args(t))
      args.push_back(c.evaluate(arg, atom_value, function_value));
    const auto [place, is_new] = graph.try_emplace({c.function(t), c.width(t), args}, value);
    consistent = consistent && (is_new || place->second == value);
  }
  if (!consistent) return std::nullopt;
  carry_back(c, rewritten, atoms_of(c, facts, goal), function_value, witness);
  if (!within_bounds(c, witness) || !refutes(c, facts, goal, atom_value, function_value))
    return std::nullopt;
  return witness;
}

} // namespace ptxasw::sym
