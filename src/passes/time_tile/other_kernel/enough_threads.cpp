// Writes what is the same for all threads, if there are enough of them, as a number.
#include "passes/time_tile/other_kernel/enough_threads.hpp"

#include "analysis/liveness.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/step/loop_iterations.hpp"
#include "passes/time_tile/step/step_axes.hpp"
#include "passes/time_tile/step/step_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using contract::Condition;
using contract::Expression;
using emulator::Definition;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;
using sym::Kind;
using sym::Term;

namespace {

constexpr unsigned enough_rounds = 6;

// Blocks times the size of a block are the threads along an axis.
IntegerPolynomial with_threads(const IntegerPolynomial& whole) {
  using Of = Quantity::Of;
  IntegerPolynomial made;
  for (const auto& [product, coefficient] : whole.terms()) {
    std::vector<Quantity> factors(product.begin(), product.end());
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto blocks = std::ranges::find(factors, Quantity{.number = axis, .of = Of::blocks});
      const auto size = std::ranges::find(factors, Quantity{.number = axis, .of = Of::block_size});
      if (blocks == factors.end() || size == factors.end()) continue;
      *blocks = Quantity{.number = axis, .of = Of::threads};
      factors.erase(size);
    }
    IntegerPolynomial term(coefficient);
    for (const Quantity& factor : factors)
      term = term * IntegerPolynomial(factor);
    made = made + term;
  }
  return made;
}

// Of a round: what is decided in it, and under which conditions.
class Decider {
public:
  explicit Decider(emulator::Kernel& kernel)
      : k_(kernel), c_(*kernel.context), body_(kernel.body), places_(kernel),
        written_(analysis::definitions(body_)), users_(users()) {}

  std::vector<ptx::Edit> run() {
    Meaning meaning;
    FoundAxes axes = find_axes(k_, {}, meaning, places_);
    if (!axes.refused.empty()) return {};
    reader_.emplace(k_, meaning);
    grid_ = whole_launch();
    find_ended();
    for (const Definition& definition : k_.trace.definitions)
      if (!definition.at_entry) decide(definition);
    for (ptx::Edit& edit : decided_branches(k_))
      edits_.push_back(std::move(edit));
    if (decides_)
      for (const auto* const more : {&axes.shape, &of_loops_})
        for (const Condition& one : *more)
          require(conditions_, one.value, one.otherwise.c_str());
    return std::move(edits_);
  }
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }

private:
  // --- Loops

  // Loops that end behind their first iteration, if all of them do.
  void find_ended() {
    for (std::uint32_t number = 0; number < k_.loops.loops.size(); ++number)
      if (k_.trace.iterations[number].valid() && k_.loops.loops[number].latches.size() == 1)
        ended_.insert(number);
    for (bool changed = true; changed;) {
      changed = false;
      of_loops_.clear();
      for (const std::uint32_t number : std::vector(ended_.begin(), ended_.end())) {
        const analysis::Loop& loop = k_.loops.loops[number];
        const Term again = goes_on(k_, loop);
        if (again.valid() && compare(again, box_at(loop.latches[0], of_loops_), of_loops_) == false)
          continue;
        ended_.erase(number);
        changed = true;
      }
    }
  }

  // In the first iteration of all loops that end there.
  [[nodiscard]] Term at_first(Term t) {
    sym::Context::Substitution first;
    for (const std::uint32_t number : ended_)
      first.emplace(k_.trace.iterations[number].id, c_.constant(64, 0));
    return places_.at(first.empty() ? t : c_.substitute(t, first), 0);
  }

  // --- Whole numbers

  std::optional<IntegerPolynomial> read(Term t, Reading& reading) {
    const auto whole = reader_->read(at_first(t), reading);
    return whole ? std::optional(with_threads(*whole)) : std::nullopt;
  }

  static void require(std::vector<Condition>& needed, Expression value, const char* otherwise) {
    if (!always_holds(value)) add_once(needed, {std::move(value), otherwise});
  }

  // At all places of the box.
  static bool require_range(std::vector<Condition>& needed, const Box& box, const InRange& range) {
    return add_in_range(needed, box, with_threads(range.value), {range.least, range.most},
                        range.otherwise);
  }

  // Where threads that come to the block have their places, as far as single comparisons tell.
  Box box_at(BlockId block, std::vector<Condition>& needed) {
    Box box = grid_;
    for (const Term fact : k_.facts_at(block)) {
      const auto ways = split(*reader_, c_, at_first(fact), true);
      if (!ways || ways->size() != 1 || !(*ways)[0].edges.empty() || (*ways)[0].of_places) continue;
      std::vector<Condition> of_fact;
      const auto is_right = [&](const InRange& range) {
        return require_range(of_fact, grid_, range);
      };
      const auto is_plain = [](const Bound& bound) { return bound.at.is_linear(); };
      if (!std::ranges::all_of((*ways)[0].ranges, is_right) ||
          !std::ranges::all_of((*ways)[0].bounds, is_plain))
        continue;
      for (const Bound& bound : (*ways)[0].bounds)
        narrow(box, bound);
      for (Condition& one : of_fact)
        require(needed, std::move(one.value), "an index wraps");
    }
    return box;
  }

  static void narrow(Box& box, const Bound& bound) {
    using enum contract::Token::Kind;
    Span& span = box[bound.axis];
    Expression& side = bound.below ? span.end : span.first;
    side = combine(bound.below ? least : most, std::move(side), expression_of(bound.at));
  }

  // How a comparison with the number of threads ends where that is large.
  std::optional<bool> compare(Term condition, const Box& box, std::vector<Condition>& needed) {
    if (const auto negated = c_.negated(condition)) {
      const auto other = compare(*negated, box, needed);
      return other ? std::optional(!*other) : std::nullopt;
    }
    const auto compared =
        less_than(c_, condition, [&](Term side, Reading& reading) { return read(side, reading); });
    if (!compared) return std::nullopt;
    const IntegerPolynomial difference = compared->left - compared->right;
    const auto sign = sign_of_threads(difference);
    if (!sign || !difference.is_linear()) return std::nullopt;
    for (const InRange& range : compared->ranges)
      if (!require_range(needed, box, range)) return std::nullopt;
    require(needed, *sign ? least_in(box, difference) : minus(number(-1), most_in(box, difference)),
            "a thread has several places");
    return !*sign;
  }

  // Whether there are more of something with more threads, or fewer.
  static std::optional<bool> sign_of_threads(const IntegerPolynomial& whole) {
    for (const auto& [product, coefficient] : whole.terms())
      if (product.size() == 1 && product.begin()->of == Quantity::Of::threads)
        return coefficient > 0;
    return std::nullopt;
  }

  // --- Instructions

  // By register, of the instructions that are executed.
  [[nodiscard]] std::vector<std::vector<InstId>> users() const {
    std::vector<std::vector<InstId>> made(body_.registers.size());
    for (InstId id = 0; id < body_.insts.size(); ++id)
      if (k_.trace.executed[k_.cfg.block_of[id]])
        analysis::for_each_use(body_, body_.insts[id], [&](RegId used) {
          if (made[used].empty() || made[used].back() != id) made[used].push_back(id);
        });
    return made;
  }

  // Where what the register holds is used for more than computation of registers that nothing else
  // writes. None: nowhere.
  std::optional<BlockId> used_at(RegId first) {
    std::set<RegId> seen{first};
    std::vector<RegId> open{first};
    BlockId common = analysis::no_block;
    while (!open.empty()) {
      const RegId reg = open.back();
      open.pop_back();
      for (const InstId id : users_[reg]) {
        if (computes_alone(id)) {
          analysis::for_each_definition(body_, body_.insts[id], [&](RegId made) {
            if (seen.insert(made).second) open.push_back(made);
          });
          continue;
        }
        const BlockId block = k_.cfg.block_of[id];
        if (common == analysis::no_block) common = block;
        while (!k_.cfg.dominates(common, block))
          common = k_.cfg.idom[common];
      }
    }
    return common == analysis::no_block ? std::nullopt : std::optional(common);
  }

  [[nodiscard]] bool computes_alone(InstId id) const {
    const Inst& inst = body_.insts[id];
    bool is_alone = ptx::group(inst.op) == Group::pure && inst.guard == ptx::none;
    analysis::for_each_definition(body_, inst,
                                  [&](RegId made) { is_alone &= written_[made].size() == 1; });
    return is_alone;
  }

  void decide(const Definition& definition) {
    const Inst& inst = body_.insts[definition.inst];
    if (inst.guard != ptx::none || inst.opaque || inst.dst.count != 1 ||
        ptx::group(inst.op) != Group::pure || written_[definition.reg].size() != 1 ||
        c_.value(definition.value))
      return;
    const unsigned width = c_.width(definition.value);
    const Kind kind = c_.kind(definition.value);
    const bool is_quotient = kind == Kind::udiv || kind == Kind::sdiv;
    if (!is_quotient && width != 1) return; // who uses it takes long to find
    const auto at = used_at(definition.reg);
    if (!at || !k_.cfg.dominates(k_.cfg.block_of[definition.inst], *at)) return;
    std::vector<Condition> needed;
    if (is_quotient) {
      if (is_below_threads(definition.value, box_at(*at, needed), needed))
        write(inst, fmt::format("mov.b{} \t{}, 0;", width, name(definition.reg)), needed);
    } else if (const auto holds = compare(definition.value, box_at(*at, needed), needed)) {
      write(inst, fmt::format("mov.pred \t{}, {};", name(definition.reg), *holds ? -1 : 0), needed);
    }
  }

  // What is divided by the number of threads.
  bool is_below_threads(Term divided, const Box& box, std::vector<Condition>& needed) {
    Reading reading;
    const auto number_of = read(c_.args(divided)[0], reading);
    const auto by = number_of ? read(c_.args(divided)[1], reading) : std::nullopt;
    if (!by || !number_of->is_linear() || by->terms().size() != 1 || !sign_of_threads(*by) ||
        by->terms().begin()->second != 1)
      return false;
    reading.ranges.push_back({*number_of, 0, Number{1} << 31, "a thread has several places"});
    for (const InRange& range : reading.ranges)
      if (!require_range(needed, box, range)) return false;
    require(needed, minus(minus(expression_of(*by), number(1)), most_in(box, *number_of)),
            "a thread has several places");
    return true;
  }

  [[nodiscard]] const std::string& name(RegId reg) const { return body_.registers[reg].name; }

  void write(const Inst& inst, std::string text, const std::vector<Condition>& needed) {
    edits_.push_back({body_.module->statements[inst.statement].range, std::move(text)});
    for (const Condition& one : needed)
      require(conditions_, one.value, one.otherwise.c_str());
    decides_ = true;
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  const ptx::Body& body_;
  StepPlaces places_;
  const std::vector<std::vector<InstId>> written_; // by register
  const std::vector<std::vector<InstId>> users_;
  std::optional<IntegerPolynomialReader> reader_;
  Box grid_;
  std::set<std::uint32_t> ended_;   // loops
  std::vector<Condition> of_loops_; // under which they are
  std::vector<ptx::Edit> edits_;
  std::vector<Condition> conditions_;
  bool decides_ = false;
};

} // namespace

std::optional<EnoughThreads> with_enough_threads(emulator::Kernel& kernel,
                                                 const emulator::Budget& budget) {
  if (kernel.loops.loops.empty() || !why_not_a_plain_kernel(kernel).empty()) return std::nullopt;
  std::optional<EnoughThreads> made;
  try {
    for (unsigned round = 0; round < enough_rounds; ++round) {
      emulator::Kernel& now = made ? made->other.kernel : kernel;
      Decider decider(now);
      std::vector<ptx::Edit> edits = decider.run();
      if (edits.empty() || (!made && decider.conditions().empty())) break;
      OtherKernel other = emulate_text(edited_text(now.body, std::move(edits)), now.body, budget,
                                       {}, emulator::Follow::addresses);
      if (!other.refused.empty()) return std::nullopt;
      if (!made) made.emplace();
      made->conditions.insert(made->conditions.end(), decider.conditions().begin(),
                              decider.conditions().end());
      // The module that the kernel is of goes last.
      made->other.kernel = std::move(other.kernel);
      made->other.module = std::move(other.module);
    }
  } catch (const sym::BudgetSpent&) {
    return std::nullopt;
  }
  return made;
}

} // namespace ptxasw::passes
