// Questions about terms that do not build new ones (evaluation, dependence, difference), and
// substitution, which rebuilds through the normalising constructors.
#include "symbolic/bits.hpp"
#include "symbolic/term.hpp"

#include <algorithm>

namespace ptxasw::sym {

namespace {

Bits evaluate_poly(const PolyView& p, unsigned width, const std::function<Bits(Term)>& value) {
  Bits sum = p.constant;
  for (std::size_t i = 0; i < p.size(); ++i) {
    Bits monomial = p.coefficients[i];
    for (const Term f : p.factors(i))
      monomial *= value(f);
    sum += monomial;
  }
  return sum & low_mask(width);
}

} // namespace

Bits Context::evaluate(Term t, const AtomValue& atom_value,
                       const FunctionValue& function_value) const {
  const std::vector<Term> order = postorder(t, {});
  std::vector<std::uint32_t> place(t.id + std::size_t{1});
  spend(2 * order.size() + t.id / 64);
  std::vector<Bits> values(order.size());
  const std::function<Bits(Term)> value_of = [&](Term u) { return values[place[u.id]]; };
  std::vector<Bits> args;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& n = node(order[i]);
    place[order[i].id] = static_cast<std::uint32_t>(i);
    const Bits mask = low_mask(n.width);
    const auto arg = [&](std::size_t k) { return value_of(n.args()[k]); };
    Bits& result = values[i];
    switch (n.kind) {
    case Kind::constant: result = n.numbers[0]; break;
    case Kind::atom: result = atom_value(atoms_[n.aux], n.self) & mask; break;
    case Kind::poly: result = evaluate_poly(view(n.self), n.width, value_of); break;
    case Kind::extract: result = (arg(0) >> n.aux) & mask; break;
    case Kind::concat: result = (arg(0) << width(n.args()[1])) | arg(1); break;
    case Kind::zext: result = arg(0); break;
    case Kind::sext: result = as_bits(as_signed(arg(0), width(n.args()[0]))) & mask; break;
    case Kind::ite: result = arg(0) != 0 ? arg(1) : arg(2); break;
    case Kind::apply:
      args.clear();
      for (const Term u : n.args())
        args.push_back(value_of(u));
      result = function_value(symbols_[n.aux].key, n.width, args) & mask;
      break;
    default:
      result = arg(0);
      for (std::size_t k = 1; k < n.count; ++k)
        result = fold_binary(n.kind, width(n.args()[0]), result, arg(k));
    }
  }
  return values.back();
}

Term Context::rebuild(const Node& n, const std::function<Term(Term)>& mapped) {
  const auto arg = [&](std::size_t k) { return mapped(n.args()[k]); };
  const auto fold = [&](Term (Context::*combine)(Term, Term)) {
    Term result = arg(0);
    for (std::size_t k = 1; k < n.count; ++k)
      result = (this->*combine)(result, arg(k));
    return result;
  };
  switch (n.kind) {
  case Kind::constant:
  case Kind::atom: return n.self;
  case Kind::poly: {
    const PolyView p = view(n.self);
    return map_poly(
        p, n.width, p.constant, [](Bits c) { return c; }, mapped);
  }
  case Kind::and_: return fold(&Context::and_);
  case Kind::or_: return fold(&Context::or_);
  case Kind::xor_: return fold(&Context::xor_);
  case Kind::shl: return shl(arg(0), arg(1));
  case Kind::lshr: return lshr(arg(0), arg(1));
  case Kind::ashr: return ashr(arg(0), arg(1));
  case Kind::udiv: return udiv(arg(0), arg(1));
  case Kind::urem: return urem(arg(0), arg(1));
  case Kind::sdiv: return sdiv(arg(0), arg(1));
  case Kind::srem: return srem(arg(0), arg(1));
  case Kind::extract: return extract(arg(0), n.aux, n.width);
  case Kind::concat: return concat(arg(0), arg(1));
  case Kind::zext: return zext(arg(0), n.width);
  case Kind::sext: return sext(arg(0), n.width);
  case Kind::eq: return eq(arg(0), arg(1));
  case Kind::ult: return ult(arg(0), arg(1));
  case Kind::slt: return slt(arg(0), arg(1));
  case Kind::ite: return ite(arg(0), arg(1), arg(2));
  case Kind::apply: {
    std::vector<Term> args;
    for (std::size_t k = 0; k < n.count; ++k)
      args.push_back(arg(k));
    return intern(NodeKey{Kind::apply, n.width, n.aux, args, {}, {}});
  }
  }
  return n.self;
}

// Many terms are put through one substitution in a row, and most of their subterms are the same:
// what became of those is kept until another substitution comes.
void Context::prepare(const Substitution& map) {
  if (map == replacing_.map) return;
  replacing_ = {.map = map};
  for (const auto& [id, replacement] : map) {
    assert(width(Term{id}) == width(replacement));
    replacing_.oldest = std::min(replacing_.oldest, id);
    replacing_.touched |= node(Term{id}).atom_set;
    replacing_.prune = replacing_.prune && node(Term{id}).atom_set != 0;
  }
}

Term Context::substitute(Term t, const Substitution& map) {
  if (map.empty()) return t;
  prepare(map);
  const Replacing& r = replacing_;
  // A subterm that is older than every replaced term, or without any atom of theirs, contains none
  // of them.
  const auto mapped = [&](Term u) {
    if (u.id < r.oldest || (r.prune && (node(u).atom_set & r.touched) == 0)) return u;
    if (const auto place = r.map.find(u.id); place != r.map.end()) return place->second;
    const auto place = r.done.find(u.id);
    return place != r.done.end() ? place->second : Term{};
  };
  std::vector<Term> todo;
  if (!mapped(t).valid()) todo.push_back(t);
  while (!todo.empty()) {
    const Term u = todo.back();
    const Node& n = node(u);
    spend(1 + n.count);
    const std::size_t before = todo.size();
    bool changed = false;
    for (const Term child : n.args()) {
      const Term now = mapped(child);
      if (!now.valid()) todo.push_back(child);
      changed = changed || now != child;
    }
    if (todo.size() != before) continue;
    todo.pop_back();
    if (!r.done.contains(u.id)) replacing_.done.emplace(u.id, changed ? rebuild(n, mapped) : u);
  }
  return mapped(t);
}

std::vector<Term> Context::atoms(Term t) const {
  constexpr std::size_t few = 64;
  if (const auto known = atoms_known_.find(t.id); known != atoms_known_.end()) return known->second;
  std::vector<Term> result = postorder(t, [&](Term u) { return node(u).atom_set == 0; });
  std::erase_if(result, [&](Term u) { return !is(u, Kind::atom); });
  if (result.size() <= few) {
    atoms_known_.emplace(t.id, result);
    remembered_ += 2 + result.size() / 4;
  }
  return result;
}

// What was found out about subterms is kept, so that all questions about one atom together walk
// over each term once.
bool Context::depends_on(Term t, Term atom) const {
  const std::uint64_t bit = node(atom).atom_set;
  const auto may = [&](Term u) { return u.id >= atom.id && (node(u).atom_set & bit) != 0; };
  if (t == atom || !may(t)) return t == atom;
  std::unordered_map<std::uint32_t, bool>& known = dependence_[atom.id];
  std::vector<Term> todo{t};
  while (!todo.empty()) {
    const Term u = todo.back();
    if (known.contains(u.id)) {
      todo.pop_back();
      continue;
    }
    const std::span<const Term> children = node(u).args();
    spend(1 + children.size());
    const std::size_t before = todo.size();
    bool found = false;
    for (const Term child : children) {
      if (child != atom && !may(child)) continue;
      const auto place = known.find(child.id);
      found = found || child == atom || (place != known.end() && place->second);
      if (found) break;
      if (place == known.end()) todo.push_back(child);
    }
    if (!found && todo.size() != before) continue;
    todo.resize(before - 1);
    known.emplace(u.id, found);
    ++remembered_;
  }
  return known.at(t.id);
}

std::optional<std::int64_t> Context::difference(Term a, Term b) const {
  const unsigned w = width(a);
  assert(w == width(b));
  if (!same_monomials(view(a), view(b), false, w)) return std::nullopt;
  const SBits d = as_signed((view(a).constant - view(b).constant) & low_mask(w), w);
  if (d != static_cast<std::int64_t>(d)) return std::nullopt;
  return static_cast<std::int64_t>(d);
}

Poly Context::poly(Term t) const {
  const PolyView p = view(t);
  Poly result;
  result.constant = p.constant;
  for (std::size_t i = 0; i < p.size(); ++i)
    result.terms.push_back({p.coefficients[i], {p.factors(i).begin(), p.factors(i).end()}});
  return result;
}

Term Context::from_poly(unsigned w, const Poly& poly) {
  Term sum = constant(w, poly.constant);
  for (const Monomial& m : poly.terms) {
    Term product = constant(w, m.coefficient);
    for (const Term f : m.factors)
      product = mul(product, f);
    sum = add(sum, product);
  }
  return sum;
}

} // namespace ptxasw::sym
