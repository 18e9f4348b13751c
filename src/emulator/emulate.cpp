// One pass over the blocks of a function, in terms.
//
// State is a term per needed register. Where paths meet, equal terms stay, a two-way branch gives
// an if-then-else, anything else an atom that stands for "whatever arrived" (so the number of flows
// never multiplies: a pair of loads related by the same delta here is so related on every path). At
// a loop header every register that the loop assigns becomes an atom; when the loop has been
// emulated, those atoms that advance by a loop-invariant step become  start + step * trip , and the
// substitution is applied to all that was recorded inside.
#include "emulator/emulate.hpp"

#include "emulator/instructions.hpp"
#include "emulator/order.hpp"
#include "emulator/slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ptxasw::emulator {

using analysis::BlockId;
using ptx::Arg;
using ptx::InstId;
using ptx::RegId;
using sym::Term;

namespace {

class Emulator {
public:
  Emulator(Kernel& kernel, std::array<std::uint32_t, 3> shape, Follow follow)
      : k_(kernel), c_(*kernel.context), slice_(slice_of(kernel.body, follow)),
        instructions_(kernel, slice_, shape) {}

  void run() {
    Trace& trace = k_.trace;
    trace.entry_fact.resize(k_.cfg.blocks.size());
    trace.executed.assign(k_.cfg.blocks.size(), false);
    trace.iterations.resize(k_.loops.loops.size());
    out_.resize(k_.cfg.blocks.size());
    branch_.resize(k_.cfg.blocks.size());
    open_.resize(k_.loops.loops.size());
    left_.resize(k_.loops.loops.size());
    left_block_.resize(k_.cfg.blocks.size());
    for (std::size_t i = 0; i < left_.size(); ++i)
      left_[i] = k_.loops.loops[i].blocks.size();
    find_assigned();

    for (const BlockId b : emulation_order(k_.cfg, k_.loops)) {
      if (!k_.trace.refused.empty()) return;
      if (enter(b)) emulate_block(b);
      leave(b);
      forget_done(b);
    }
  }

private:
  struct OpenLoop {
    bool entered = false;
    std::uint32_t mark = 0; // terms from here on may change from iteration to iteration
    std::size_t events = 0, definitions = 0;
    struct Carried {
      std::uint32_t slot = 0;
      Term start, atom;
    };
    std::vector<Carried> carried;
  };

  // --- Control flow ----------------------------------------------------------------------------

  // Needed registers that each loop assigns.
  void find_assigned() {
    assigned_.resize(k_.loops.loops.size());
    for (std::size_t loop = 0; loop < assigned_.size(); ++loop) {
      std::vector<bool> seen(slice_.registers.size(), false);
      for (const BlockId b : k_.loops.loops[loop].blocks) {
        for (InstId i = k_.cfg.blocks[b].first; i < k_.cfg.blocks[b].end; ++i) {
          for (const Arg& dst : k_.body.dst(k_.body.insts[i])) {
            if (dst.kind == Arg::Kind::reg && slice_.needs(dst.id))
              seen[slice_.index[dst.id]] = true;
          }
        }
      }
      for (std::uint32_t slot = 0; slot < seen.size(); ++slot) {
        if (seen[slot]) assigned_[loop].push_back(slot);
      }
    }
  }

  [[nodiscard]] bool is_header(BlockId b) const {
    const std::uint32_t loop = k_.loops.innermost[b];
    return loop != ~0U && k_.loops.loops[loop].header == b;
  }

  // The condition under which `from` goes to its successor number `n`; invalid: no condition known.
  Term edge_condition(BlockId from, std::size_t n) {
    const auto& succs = k_.cfg.blocks[from].succs;
    if (succs.size() != 2 || succs[0] == succs[1] || !branch_[from].valid()) return {};
    return n == 0 ? branch_[from] : c_.not_(branch_[from]);
  }

  struct Edge {
    BlockId from = 0;
    Term condition; // invalid: always or unknown
  };

  // Edges that can be taken, back edges aside.
  std::vector<Edge> live_edges(BlockId b) {
    std::vector<Edge> edges;
    std::vector<BlockId> seen;
    for (const BlockId from : k_.cfg.blocks[b].preds) {
      if (std::ranges::find(seen, from) != seen.end()) continue;
      seen.push_back(from);
      if (!k_.trace.executed[from] || k_.cfg.dominates(b, from)) continue;
      const auto& succs = k_.cfg.blocks[from].succs;
      for (std::size_t n = 0; n < succs.size(); ++n) {
        if (succs[n] != b) continue;
        const Term condition = edge_condition(from, n);
        if (condition.valid() && c_.value(condition) == sym::Bits{0}) {
          ++k_.trace.pruned_edges;
          continue;
        }
        edges.push_back({from, condition});
        if (!condition.valid()) break; // both ways lead here: one edge will do
      }
    }
    return edges;
  }

  // Builds the state at the start of `b`; false if no path can lead there.
  bool enter(BlockId b) {
    if (b == k_.cfg.entry()) {
      state_.clear();
      for (const RegId reg : slice_.registers) {
        state_.push_back(instructions_.fresh(AtomKind::undefined, k_.body.registers[reg].name, reg,
                                             sym::Uniformity::lane, reg));
      }
    } else {
      const std::vector<Edge> edges = live_edges(b);
      if (edges.empty()) return false;
      merge(b, edges);
      const bool only_way = std::ranges::none_of(k_.cfg.blocks[b].preds,
                                                 [&](BlockId p) { return k_.cfg.dominates(b, p); });
      if (edges.size() == 1 && only_way) k_.trace.entry_fact[b] = edges[0].condition;
    }
    k_.trace.executed[b] = true;
    if (is_header(b)) open_loop(k_.loops.innermost[b]);
    return true;
  }

  void merge(BlockId b, const std::vector<Edge>& edges) {
    state_ = out_[edges[0].from];
    c_.spend(state_.size() * edges.size() / slots_per_step);
    if (edges.size() == 1) return;
    const auto [condition, swapped] = two_way(b, edges);
    std::map<std::vector<Term>, Term> merged; // registers that agree on every path share an atom
    std::vector<Term> incoming(edges.size());
    for (std::uint32_t slot = 0; slot < state_.size(); ++slot) {
      for (std::size_t e = 0; e < edges.size(); ++e)
        incoming[e] = out_[edges[e].from][slot];
      if (std::ranges::all_of(incoming, [&](Term t) { return t == incoming[0]; })) continue;
      state_[slot] = condition.valid()
                         ? c_.ite(condition, incoming[swapped ? 1 : 0], incoming[swapped ? 0 : 1])
                         : merged_atom(b, slot, merged[incoming]);
      note_entry_value(b, slot);
    }
  }

  Term merged_atom(BlockId b, std::uint32_t slot, Term& known) {
    if (!known.valid()) {
      const RegId reg = slice_.registers[slot];
      known =
          instructions_.fresh(AtomKind::merged, fmt::format("phi({})", k_.body.registers[reg].name),
                              reg, to_sym(k_.uniformity.registers[reg]), b, reg);
    }
    return known;
  }

  void note_entry_value(BlockId b, std::uint32_t slot) {
    k_.trace.definitions.push_back(
        {k_.cfg.blocks[b].first, slice_.registers[slot], state_[slot], true});
  }

  // Does one branch alone decide by which of two edges `b` is entered? Then its condition, and
  // whether edges[1] (not edges[0]) is the side on which it holds.
  std::pair<Term, bool> two_way(BlockId b, const std::vector<Edge>& edges) {
    const BlockId fork = k_.cfg.idom[b];
    if (edges.size() != 2 || fork == analysis::no_block) return {};
    const auto& succs = k_.cfg.blocks[fork].succs;
    if (succs.size() != 2 || succs[0] == succs[1] || !branch_[fork].valid()) return {};
    const auto side = [&](const Edge& edge) -> int {
      for (int n = 0; n < 2; ++n) {
        const BlockId s = succs[static_cast<std::size_t>(n)];
        if (edge.from == fork) {
          if (s == b && edge.condition == edge_condition(fork, static_cast<std::size_t>(n)))
            return n;
        } else if (s != b && k_.cfg.blocks[s].preds.size() == 1 && k_.cfg.dominates(s, edge.from)) {
          return n;
        }
      }
      return -1;
    };
    const int first = side(edges[0]), second = side(edges[1]);
    if (first < 0 || second < 0 || first == second) return {};
    return {branch_[fork], first == 1};
  }

  // --- Loops -----------------------------------------------------------------------------------

  void open_loop(std::uint32_t index) {
    OpenLoop& loop = open_[index];
    const sym::Uniformity iterations = to_sym(k_.uniformity.loops[index]);
    k_.trace.iterations[index] = c_.atom({.name = fmt::format("trip{}", index),
                                          .width = 64,
                                          .uniformity = iterations,
                                          .kind = static_cast<std::uint32_t>(AtomKind::iteration),
                                          .tag = index});
    loop.entered = true;
    loop.mark = k_.trace.iterations[index].id + 1;
    loop.events = k_.trace.events.size();
    loop.definitions = k_.trace.definitions.size();
    const BlockId header = k_.loops.loops[index].header;
    for (const std::uint32_t slot : assigned_[index]) {
      const RegId reg = slice_.registers[slot];
      if (!k_.liveness->live_in(header, reg)) continue;
      const sym::Uniformity u = std::max(to_sym(k_.uniformity.registers[reg]), iterations);
      const Term atom = instructions_.fresh(AtomKind::carried,
                                            fmt::format("loop({})", k_.body.registers[reg].name),
                                            reg, u, header, reg);
      loop.carried.push_back({slot, state_[slot], atom});
      state_[slot] = atom;
      note_entry_value(header, slot);
    }
  }

  // Latches from which another trip can start.
  std::vector<BlockId> live_latches(const analysis::Loop& loop) {
    std::vector<BlockId> latches;
    for (const BlockId latch : loop.latches) {
      if (!k_.trace.executed[latch]) continue;
      const auto& succs = k_.cfg.blocks[latch].succs;
      for (std::size_t n = 0; n < succs.size(); ++n) {
        const Term condition = succs[n] == loop.header ? edge_condition(latch, n) : Term{};
        if (succs[n] == loop.header &&
            !(condition.valid() && c_.value(condition) == sym::Bits{0})) {
          latches.push_back(latch);
          break;
        }
      }
    }
    return latches;
  }

  [[nodiscard]] bool invariant(Term t, std::uint32_t mark) const {
    const std::vector<Term> atoms = c_.atoms(t);
    return std::ranges::all_of(atoms, [&](Term atom) { return atom.id < mark; });
  }

  // start + step * trip, if every latch hands back atom + step with a loop-invariant step.
  Term closed_form(const OpenLoop& loop, const OpenLoop::Carried& carried, Term iteration,
                   const std::vector<BlockId>& latches, const sym::Context::Substitution& known) {
    const unsigned width = c_.width(carried.atom);
    Term step = c_.constant(width, 0);
    for (std::size_t n = 0; n < latches.size(); ++n) {
      const Term next = c_.substitute(out_[latches[n]][carried.slot], known);
      if (next == carried.atom) {
        if (n > 0 && step != c_.constant(width, 0)) return {};
        continue;
      }
      if (width == 1) return {};
      const Term difference = c_.sub(next, carried.atom);
      if ((n > 0 && difference != step) || !invariant(difference, loop.mark)) return {};
      step = difference;
    }
    if (c_.value(step) == sym::Bits{0}) return carried.start;
    const Term count = width == 64  ? iteration
                       : width < 64 ? c_.extract(iteration, 0, width)
                                    : c_.zext(iteration, width);
    return c_.add(carried.start, c_.mul(step, count));
  }

  void close_loop(std::uint32_t index) {
    OpenLoop& loop = open_[index];
    if (!loop.entered) return;
    const std::vector<BlockId> latches = live_latches(k_.loops.loops[index]);
    sym::Context::Substitution known;
    for (bool progress = true; progress;) {
      progress = false;
      for (const OpenLoop::Carried& carried : loop.carried) {
        if (known.contains(carried.atom.id)) continue;
        const Term form = closed_form(loop, carried, k_.trace.iterations[index], latches, known);
        if (!form.valid()) continue;
        known.emplace(carried.atom.id, form);
        progress = true;
      }
    }
    if (!known.empty()) rewrite_loop(index, known);
  }

  // Puts the closed forms into everything that was recorded since the loop was opened.
  void rewrite_loop(std::uint32_t index, const sym::Context::Substitution& known) {
    // Older terms have none of the loop's atoms in them.
    const auto apply = [&](Term& t) {
      if (t.valid() && t.id >= open_[index].mark) t = c_.substitute(t, known);
    };
    Trace& trace = k_.trace;
    for (std::size_t e = open_[index].events; e < trace.events.size(); ++e) {
      apply(trace.events[e].address);
      apply(trace.events[e].guard);
      std::ranges::for_each(trace.events[e].values, apply);
    }
    for (std::size_t d = open_[index].definitions; d < trace.definitions.size(); ++d) {
      apply(trace.definitions[d].value);
    }
    for (const BlockId b : k_.loops.loops[index].blocks) {
      if (b != k_.loops.loops[index].header) apply(trace.entry_fact[b]);
      apply(branch_[b]);
      for (Term& t : out_[b])
        apply(t);
    }
  }

  void leave(BlockId b) {
    for (std::uint32_t loop = k_.loops.innermost[b]; loop != ~0U;
         loop = k_.loops.loops[loop].parent) {
      if (--left_[loop] == 0) close_loop(loop);
    }
  }

  // --- Blocks ----------------------------------------------------------------------------------

  void emulate_block(BlockId b) {
    instructions_.run(b, state_);
    const analysis::Block& block = k_.cfg.blocks[b];
    if (block.succs.size() == 2) {
      const ptx::Inst& last = k_.body.insts[block.end - 1];
      if (last.guard != ptx::none && last.op != ptx::Op::brx) {
        branch_[b] = instructions_.guard_of(last, state_);
      }
    }
    out_[b] = state_;
    c_.hold(static_cast<std::ptrdiff_t>(state_.size() * sizeof(Term)));
  }

  // --- What need not be kept -------------------------------------------------------------------

  // The state behind a block serves its successors and the end of the loops around it.
  void forget_done(BlockId b) {
    left_block_[b] = true;
    for (const BlockId from : k_.cfg.blocks[b].preds)
      forget_if_done(from);
    std::uint32_t outermost = k_.loops.innermost[b];
    if (outermost == ~0U) return forget_if_done(b);
    while (k_.loops.loops[outermost].parent != ~0U)
      outermost = k_.loops.loops[outermost].parent;
    if (left_[outermost] != 0) return;
    for (const BlockId inside : k_.loops.loops[outermost].blocks)
      forget_if_done(inside);
  }

  void forget_if_done(BlockId b) {
    for (std::uint32_t loop = k_.loops.innermost[b]; loop != ~0U;
         loop = k_.loops.loops[loop].parent)
      if (left_[loop] != 0) return;
    const auto& succs = k_.cfg.blocks[b].succs;
    if (!std::ranges::all_of(succs, [&](BlockId to) { return left_block_[to]; })) return;
    c_.hold(-static_cast<std::ptrdiff_t>(out_[b].size() * sizeof(Term)));
    out_[b] = State(); // {} would keep the memory
  }

  static constexpr std::size_t slots_per_step = 16; // copied and compared

  Kernel& k_;
  sym::Context& c_;
  Slice slice_;
  Instructions instructions_;

  State state_;
  std::vector<State> out_;                           // by block: at its end
  std::vector<Term> branch_;                         // by block: condition of its first successor
  std::vector<OpenLoop> open_;                       // by loop
  std::vector<std::size_t> left_;                    // by loop: blocks still to come
  std::vector<std::vector<std::uint32_t>> assigned_; // by loop
  std::vector<bool> left_block_;
};

// Bit sets of a row of registers for each block, and a few passes over them.
void analyze_flow(Kernel& kernel) {
  const std::size_t row = (kernel.body.registers.size() + 63) / 64;
  const std::size_t words = 2 * row * kernel.cfg.blocks.size();
  kernel.context->hold(static_cast<std::ptrdiff_t>(words * sizeof(std::uint64_t)));
  kernel.context->spend(words / 16 + 8 * kernel.body.insts.size());
  kernel.liveness = std::make_unique<analysis::Liveness>(kernel.body, kernel.cfg);
  kernel.uniformity =
      analysis::find_uniformity(kernel.body, kernel.cfg, kernel.loops, *kernel.liveness);
}

} // namespace

Reason reason_of(const sym::BudgetSpent& spent) {
  switch (spent.of()) {
  case sym::BudgetSpent::Of::work: return Reason::budget_time;
  case sym::BudgetSpent::Of::memory: return Reason::budget_memory;
  case sym::BudgetSpent::Of::clock: return Reason::budget_clock;
  }
  return Reason::other;
}

Kernel emulate(const ptx::Module& module, const ptx::Function& function, const Budget& budget,
               std::array<std::uint32_t, 3> block_shape, Follow follow) {
  Kernel kernel;
  kernel.body = ptx::resolve(module, function);
  if (function.has_opaque) {
    kernel.trace.refused = {Reason::unreadable, "a statement of the body could not be read"};
  } else if (!kernel.body.usable) {
    kernel.trace.refused = {Reason::unknown_name, kernel.body.diagnostics.empty()
                                                      ? "names could not be resolved"
                                                      : kernel.body.diagnostics[0].message};
  }
  if (!kernel.trace.refused.empty()) return kernel;
  kernel.cfg = analysis::build_cfg(kernel.body);
  kernel.loops = analysis::find_loops(kernel.cfg);
  if (kernel.loops.irreducible) {
    kernel.trace.refused = {Reason::irreducible,
                            "irreducible control flow (a loop with two entries)"};
    return kernel;
  }
  kernel.context = std::make_unique<sym::Context>();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (function.reqntid[axis] != 0) block_shape[axis] = function.reqntid[axis];
  }
  try {
    kernel.context->allow(budget.allowance());
    analyze_flow(kernel);
    Emulator(kernel, block_shape, follow).run();
    kernel.context->allow({});
  } catch (const sym::BudgetSpent& spent) {
    kernel.trace.refused = {reason_of(spent), spent.what()};
  }
  return kernel;
}

std::vector<Term> Kernel::facts_at(BlockId block) const {
  std::vector<Term> facts;
  for (BlockId b = block; b != analysis::no_block; b = cfg.idom[b]) {
    context->spend(1);
    const Term fact = trace.entry_fact[b];
    if (fact.valid() && !context->value(fact)) facts.push_back(fact);
  }
  return facts;
}

bool Kernel::warp_uniform_loops(BlockId block) const {
  for (std::uint32_t loop = loops.innermost[block]; loop != ~0U; loop = loops.loops[loop].parent) {
    if (uniformity.loops[loop] == analysis::Uniform::lane) return false;
  }
  return true;
}

} // namespace ptxasw::emulator
