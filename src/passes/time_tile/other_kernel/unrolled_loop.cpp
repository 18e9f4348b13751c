// Reads the form off the flow of control, and asks the solver how often each loop goes round.
#include "passes/time_tile/other_kernel/unrolled_loop.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"
#include "symbolic/solver.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::InstId;
using sym::Term;

namespace {

// On some way from the block that dominates it. Where all ways bring the same the emulator notes
// nothing.
bool is_written_between(const emulator::Kernel& kernel, BlockId block, ptx::RegId reg) {
  const analysis::Cfg& cfg = kernel.cfg;
  const BlockId above = cfg.idom[block];
  if (above == analysis::no_block || cfg.blocks[block].preds == std::vector{above}) return false;
  for (BlockId between = 0; between < cfg.blocks.size(); ++between)
    if (between != above && cfg.reachable(between) && cfg.dominates(above, between) &&
        analysis::written(kernel.body, cfg.blocks[between].first, cfg.blocks[between].end, reg) &&
        (between == block || analysis::reached_from(cfg, between, above)[block]))
      return true;
  return false;
}

} // namespace

sym::Term value_behind(const emulator::Kernel& kernel, BlockId block, ptx::RegId reg) {
  const auto& definitions = kernel.trace.definitions;
  const auto value_of = [&](InstId id, bool at_entry) {
    const auto found = std::ranges::find_if(definitions, [&](const emulator::Definition& one) {
      return one.inst == id && one.reg == reg && one.at_entry == at_entry;
    });
    return found == definitions.end() ? Term{} : found->value;
  };
  for (; block != analysis::no_block; block = kernel.cfg.idom[block]) {
    const analysis::Block& code = kernel.cfg.blocks[block];
    for (InstId id = code.end; id-- > code.first;)
      if (analysis::written(kernel.body, id, id + 1, reg)) return value_of(id, false);
    if (code.first != code.end)
      if (const Term merged = value_of(code.first, true); merged.valid()) return merged;
    if (is_written_between(kernel, block, reg)) return {};
  }
  return {};
}

bool is_always_done(const emulator::Kernel& kernel, const UnrolledLoop& loop, BlockId block) {
  return loop.rest ? kernel.cfg.dominates(block, kernel.loops.loops[*loop.rest].latches[0])
                   : kernel.cfg.post_dominates(block, loop.left);
}

namespace {

class LoopFinder {
public:
  explicit LoopFinder(const emulator::Kernel& kernel)
      : k_(kernel), c_(*kernel.context), solver_(*kernel.context) {}

  std::optional<UnrolledLoop> run() {
    const bool is_found = find([&] { return find_count(); });
    return is_found ? std::optional(std::move(found_)) : std::nullopt;
  }

  bool has_form() {
    return find([] { return true; });
  }

private:
  // With either loop as the first one.
  bool find(const std::function<bool()>& goes_on) {
    const auto& loops = k_.loops.loops;
    const auto plain = [&](const analysis::Loop& loop) { return is_plain(loop); };
    if (loops.empty() || loops.size() > 2 || !std::ranges::all_of(loops, plain)) return false;
    for (std::uint32_t main = 0; main < loops.size(); ++main) {
      found_ = {.main = main,
                .rest = std::nullopt,
                .count = {},
                .skipped = {},
                .stores = {},
                .rest_stores = {}};
      if (loops.size() == 2) found_.rest = 1 - main;
      if (find_paths() && find_stores() && goes_on()) return true;
    }
    return false;
  }

  // Entered from one block, and left where it goes round.
  [[nodiscard]] bool is_plain(const analysis::Loop& loop) const {
    return loop.parent == ~0U && loop.latches.size() == 1 && loop.exits.size() == 1 &&
           loop.exits[0].first == loop.latches[0] && k_.cfg.blocks[loop.header].preds.size() == 2;
  }
  [[nodiscard]] const analysis::Loop& main() const { return k_.loops.loops[found_.main]; }
  [[nodiscard]] const analysis::Loop& rest() const { return k_.loops.loops[*found_.rest]; }

  // --- Ways -------------------------------------------------------------------------------------

  bool find_paths() {
    const analysis::Cfg& cfg = k_.cfg;
    BlockId join = main().exits[0].second;
    while (cfg.blocks[join].preds.size() == 1) {
      if (cfg.blocks[join].succs.size() != 1) return false;
      join = cfg.blocks[join].succs[0];
    }
    const BlockId fork = cfg.idom[join];
    if (join == cfg.exit() || cfg.blocks[join].preds.size() != 2 || fork == analysis::no_block)
      return false;
    const auto& ways = cfg.blocks[fork].succs;
    if (ways.size() != 2 || (ways[0] != join && ways[1] != join)) return false;
    found_.fork = fork;
    found_.join = join;
    found_.entry = ways[0] == join ? ways[1] : ways[0];
    if (found_.entry == join || cfg.blocks[found_.entry].preds.size() != 1 ||
        !cfg.dominates(found_.entry, main().header) || !k_.trace.entry_fact[found_.entry].valid())
      return false;
    found_.skipped = c_.not_(k_.trace.entry_fact[found_.entry]);
    return find_test();
  }

  bool find_test() {
    const analysis::Cfg& cfg = k_.cfg;
    BlockId test = found_.join;
    while (cfg.blocks[test].succs.size() == 1) {
      const BlockId next = cfg.blocks[test].succs[0];
      if (next == cfg.exit() || cfg.blocks[next].preds.size() != 1) return false;
      test = next;
    }
    const auto& ways = cfg.blocks[test].succs;
    if (ways.size() != 2 || ways[0] == ways[1]) return false;
    found_.test = test;
    for (const unsigned n : {0U, 1U}) {
      found_.left = ways[n];
      found_.out = ways[1 - n];
      if (cfg.blocks[found_.left].preds.size() == 1 && !touches_memory(found_.out) &&
          k_.trace.entry_fact[found_.left].valid() && found_.out != cfg.exit())
        return !found_.rest || cfg.dominates(found_.left, rest().header);
    }
    return false;
  }

  [[nodiscard]] bool touches_memory(BlockId from) const {
    const auto reached = analysis::reached_from(k_.cfg, from);
    return std::ranges::any_of(k_.trace.events, [&](const Event& event) {
      return event.block == from || reached[event.block];
    });
  }

  // In front of the loops nothing is stored, and in them each iteration stores as much.
  bool find_stores() {
    for (const Event& event : k_.trace.events) {
      if (event.kind == EventKind::clobber) return false;
      const bool is_main = k_.loops.contains(found_.main, event.block),
                 is_left = k_.cfg.dominates(found_.left, event.block);
      const bool is_in_front =
          k_.cfg.dominates(event.block, found_.fork) || !k_.cfg.dominates(found_.fork, event.block);
      if (event.kind == EventKind::load) {
        if (!is_main && !is_left && !is_in_front) return false;
        continue;
      }
      if (!c_.value(event.guard) || (!is_main && !is_left)) return false;
      if (is_main ? !k_.cfg.dominates(event.block, main().latches[0]) : !is_left_done(event.block))
        return false;
      (is_main ? found_.stores : found_.rest_stores).push_back(&event);
    }
    return !found_.stores.empty() && !found_.rest_stores.empty();
  }

  [[nodiscard]] bool is_left_done(BlockId block) const {
    return is_always_done(k_, found_, block) &&
           (!found_.rest || k_.loops.contains(*found_.rest, block));
  }

  // --- How often --------------------------------------------------------------------------------

  bool find_count() {
    if (found_.stores.size() % found_.rest_stores.size() != 0) return false;
    found_.copies = static_cast<unsigned>(found_.stores.size() / found_.rest_stores.size());
    if (found_.copies < 2 || !std::has_single_bit(found_.copies)) return false;
    for (InstId id = 0; id < k_.body.insts.size(); ++id) {
      const Term count = rounded(id);
      if (!count.valid()) continue;
      found_.count = count;
      if (goes_round_as_said()) return true;
    }
    return false;
  }

  // Of `count & (copies - 1)`, as compilers tell how many are left, the count.
  [[nodiscard]] Term rounded(InstId id) const {
    const ptx::Inst& inst = k_.body.insts[id];
    if (inst.opaque || inst.op != ptx::Op::and_ || inst.guard != ptx::none ||
        !k_.cfg.dominates(k_.cfg.block_of[id], found_.test))
      return {};
    const auto src = k_.body.src(inst);
    if (src[0].kind != Arg::Kind::reg || src[1].kind != Arg::Kind::imm ||
        src[1].value != found_.copies - 1)
      return {};
    for (const emulator::Definition& definition : k_.trace.definitions)
      if (definition.reg == src[0].id && !definition.at_entry &&
          k_.cfg.dominates_inst(definition.inst, id) && c_.width(definition.value) <= 64)
        return definition.value;
    return {};
  }

  // With n for the count and u for the copies: the first loop is skipped if n < u, else it goes
  // round n / u times; what is left is done n % u times. Of n, which is 1 at least, it is asked as
  // u * quotient + rest.
  bool goes_round_as_said() {
    const unsigned width = c_.width(found_.count), low = std::countr_zero(found_.copies);
    const Term quotient = part("quotient", width - low - 1), rest_of = part("rest", low),
               n = c_.add(c_.mul(c_.zext(quotient, width), c_.constant(width, found_.copies)),
                          c_.zext(rest_of, width));
    known_ = solved(n);
    if (known_.empty()) return false;
    const Term none = c_.constant(width, 0);
    std::vector<Term> facts = facts_about(found_.count);
    facts.push_back(c_.not_(c_.eq(n, none)));
    const Term skipped = c_.eq(quotient, c_.constant(c_.width(quotient), 0)),
               is_left = c_.not_(c_.eq(rest_of, c_.constant(low, 0)));
    if (!equal(facts, found_.skipped, skipped) ||
        !equal(facts, k_.trace.entry_fact[found_.left], is_left))
      return false;
    if (found_.rest) {
      auto more = facts;
      more.push_back(is_left);
      if (!counts(std::move(more), *found_.rest, rest_of)) return false;
    }
    facts.push_back(c_.not_(skipped));
    return counts(std::move(facts), found_.main, quotient);
  }

  Term part(const char* name, unsigned width) {
    return c_.atom({.name = name,
                    .width = width,
                    .kind = static_cast<std::uint32_t>(emulator::AtomKind::unknown)});
  }

  // An atom of which the count is the sum with something else, as it is where the count is n.
  sym::Context::Substitution solved(Term n) {
    const sym::Poly poly = c_.poly(found_.count);
    const unsigned width = c_.width(n);
    const sym::Bits minus_one = width == 64 ? ~std::uint64_t{0} : (sym::Bits{1} << width) - 1;
    for (const sym::Monomial& one : poly.terms) {
      const bool is_atom = one.factors.size() == 1 && c_.kind(one.factors[0]) == sym::Kind::atom;
      if (!is_atom || (one.coefficient != 1 && one.coefficient != minus_one)) continue;
      const Term atom = one.factors[0];
      const Term others = c_.sub(found_.count, c_.mul(atom, c_.constant(width, one.coefficient)));
      if (c_.depends_on(others, atom)) continue;
      const Term its = c_.sub(n, others);
      return {{atom.id, one.coefficient == 1 ? its : c_.neg(its)}};
    }
    return {};
  }

  // Of what is known where the loops begin; the solver has no time for the rest.
  [[nodiscard]] std::vector<Term> facts_about(Term count) const {
    const std::vector<Term> its = c_.atoms(count);
    std::vector<Term> facts;
    for (const Term fact : k_.facts_at(found_.fork)) {
      std::vector<Term> parts{fact};
      if (c_.kind(fact) == sym::Kind::and_)
        parts.assign(c_.args(fact).begin(), c_.args(fact).end());
      for (const Term part : parts)
        if (std::ranges::includes(its, c_.atoms(part))) facts.push_back(part);
    }
    return facts;
  }

  // The loop goes round so often: behind an iteration one more follows if fewer are done.
  bool counts(std::vector<Term> facts, std::uint32_t loop, Term often) {
    const Term again = goes_on(k_, k_.loops.loops[loop]);
    if (!again.valid()) return false;
    const Term iteration = part("iteration", c_.width(often)), all = c_.zext(often, 64),
               done = c_.add(c_.zext(iteration, 64), c_.constant(64, 1));
    known_[k_.trace.iterations[loop].id] = c_.zext(iteration, 64);
    facts.push_back(c_.ule(done, all));
    return equal(std::move(facts), again, c_.ult(done, all));
  }

  bool equal(std::vector<Term> facts, Term a, Term b) {
    for (Term* const t : {&a, &b})
      *t = c_.substitute(*t, known_);
    for (Term& fact : facts)
      fact = c_.substitute(fact, known_);
    return solver_.prove_equal(facts, a, b).verdict == sym::Verdict::proved;
  }

  const emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver solver_;
  sym::Context::Substitution known_; // what the count is
  UnrolledLoop found_;
};

} // namespace

bool has_unrolled_form(const emulator::Kernel& kernel) {
  return LoopFinder(kernel).has_form();
}

std::optional<UnrolledLoop> find_unrolled_loop(const emulator::Kernel& kernel) {
  return LoopFinder(kernel).run();
}

} // namespace ptxasw::passes
