// Finds a branch behind a branch that leads where the first one does, and writes one for both.
#include "passes/time_tile/other_kernel/joined_guards.hpp"

#include "analysis/liveness.hpp"
#include "analysis/reachability.hpp"
#include "passes/shared/bindings.hpp"
#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/step/step_region.hpp"
#include "ptx/build.hpp"
#include "ptx/written.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::RegId;
using namespace ptx::words;

namespace {

// The first branch leads to `common` or falls into the second one's block; that one leads to
// `common`, too, or elsewhere.
struct Pair {
  InstId first = 0, second = 0;
  bool second_takes = false; // the second one's branch leads to `common`, or what is behind it is
};

class PairFinder {
public:
  explicit PairFinder(const emulator::Kernel& kernel)
      : k_(kernel), cfg_(kernel.cfg), body_(kernel.body), live_(body_, cfg_), names_(body_) {}

  // No two of them have a branch in common.
  [[nodiscard]] std::vector<Pair> run() const {
    std::vector<Pair> all;
    for (BlockId block = 0; block + 1 < cfg_.blocks.size(); ++block) {
      const auto pair = pair_at(block);
      if (pair && (all.empty() || all.back().second != pair->first)) all.push_back(*pair);
    }
    return all;
  }

private:
  // A guarded bra that leads to one of two blocks; or none.
  [[nodiscard]] const Inst* branch_of(BlockId block) const {
    const analysis::Block& code = cfg_.blocks[block];
    if (!cfg_.reachable(block) || code.first == code.end || code.succs.size() != 2 ||
        code.succs[0] == code.succs[1])
      return nullptr;
    const Inst& inst = body_.insts[code.end - 1];
    return inst.op == ptx::Op::bra && inst.guard != ptx::none && !inst.opaque ? &inst : nullptr;
  }

  [[nodiscard]] std::optional<Pair> pair_at(BlockId block) const {
    const Inst* const first = branch_of(block);
    if (first == nullptr) return std::nullopt;
    const BlockId common = cfg_.blocks[block].succs[0], next = cfg_.blocks[block].succs[1];
    const analysis::Block& code = cfg_.blocks[next];
    const Inst* const second = branch_of(next);
    if (second == nullptr || code.preds != std::vector{block} ||
        code.first != cfg_.blocks[block].end)
      return std::nullopt;
    const bool takes = code.succs[0] == common;
    const BlockId other = code.succs[takes ? 1 : 0];
    if ((!takes && code.succs[1] != common) || (stores(common) && stores(other)) ||
        !may_be_done_by_all(next, first->guard, common))
      return std::nullopt;
    const Pair pair{cfg_.blocks[block].end - 1, code.end - 1, takes};
    return names_.known_at(first->guard, pair.second) ? std::optional(pair) : std::nullopt;
  }

  [[nodiscard]] bool stores(BlockId block) const {
    const auto reached = analysis::reached_from(cfg_, block, analysis::no_block);
    return std::ranges::any_of(k_.trace.events, [&](const emulator::Event& event) {
      return event.kind == emulator::EventKind::store &&
             (event.block == block || reached[event.block]);
    });
  }

  // Nobody sees what is computed in the block ahead of its branch, but who goes through it.
  [[nodiscard]] bool may_be_done_by_all(BlockId block, RegId guard, BlockId common) const {
    const analysis::Block& code = cfg_.blocks[block];
    for (InstId id = code.first; id + 1 < code.end; ++id) {
      const Inst& inst = body_.insts[id];
      if (inst.opaque || inst.mods.cc || ptx::group(inst.op) != ptx::Group::pure) return false;
      bool is_own = true;
      analysis::for_each_definition(
          body_, inst, [&](RegId reg) { is_own &= reg != guard && !live_.live_in(common, reg); });
      if (!is_own) return false;
    }
    return true;
  }

  const emulator::Kernel& k_;
  const analysis::Cfg& cfg_;
  const ptx::Body& body_;
  const analysis::Liveness live_;
  const Names names_;
};

// The text with one branch for each pair, and where its instructions were.
class PairWriter {
public:
  explicit PairWriter(const ptx::Body& body)
      : body_(body), registers_(*body.module, "%joined"), code_(registers_) {}

  std::string run(const std::vector<Pair>& pairs) {
    std::vector<unsigned> made(body_.insts.size(), 1);
    for (const Pair& pair : pairs) {
      edits_.push_back({ptx::range_of(body_, pair.first), ""});
      made[pair.first] = 0;
      made[pair.second] = join(pair);
    }
    for (InstId id = 0; id < made.size(); ++id) {
      if (made[id] == 0) continue;
      origin_.insert(origin_.end(), made[id] - 1, ptx::none);
      origin_.push_back(id);
    }
    edits_.push_back(registers_.declared_at(ptx::brace_of(body_).end));
    return edited_text(body_, std::move(edits_));
  }

  [[nodiscard]] const std::vector<InstId>& origin() const { return origin_; }

private:
  // How many instructions that is.
  unsigned join(const Pair& pair) {
    unsigned count = 2;
    // Whether the branch is taken, or is not.
    const auto taken = [&](InstId branch, bool is) {
      const Inst& inst = body_.insts[branch];
      const Reg own{ptx::Type::pred, std::string(body_.registers[inst.guard].name)};
      if (inst.guard_negated != is) return own;
      ++count;
      return code_.not_(pred, own);
    };
    const Reg first = taken(pair.first, pair.second_takes), second = taken(pair.second, true);
    const Reg both =
        pair.second_takes ? code_.or_(pred, first, second) : code_.and_(pred, first, second);
    const ptx::Range range = ptx::range_of(body_, pair.second);
    const std::string_view text = body_.module->slice(range);
    code_.statement("@" + both.name + " " + std::string(text.substr(text.find("bra"))));
    edits_.push_back({range, code_.in_place()});
    return count;
  }

  const ptx::Body& body_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  std::vector<ptx::Edit> edits_;
  std::vector<InstId> origin_;
};

bool has_several_ways(const emulator::Kernel& kernel) {
  return find_region(kernel).refused.reason == Reason::step_guard;
}

} // namespace

std::optional<JoinedGuards> join_guards(const emulator::Kernel& kernel,
                                        const emulator::Budget& budget) {
  constexpr unsigned most_rounds = 8;
  if (!why_not_a_plain_kernel(kernel).empty() || kernel.loops.irreducible ||
      !has_several_ways(kernel))
    return std::nullopt;
  std::optional<JoinedGuards> made;
  const auto take = [&](const emulator::Kernel& now, std::string text,
                        const std::vector<InstId>& origin) {
    OtherKernel other =
        emulate_text(std::move(text), now.body, budget, {}, emulator::Follow::addresses);
    if (!other.refused.empty() || other.kernel.body.insts.size() != origin.size()) return false;
    std::vector<InstId> from;
    for (const InstId id : origin)
      from.push_back(id == ptx::none || !made ? id : made->origin[id]);
    made = JoinedGuards{std::move(other), std::move(from)};
    return true;
  };
  if (auto edits = decided_branches(kernel); !edits.empty()) {
    std::vector<InstId> origin;
    for (InstId id = 0; id < kernel.body.insts.size(); ++id)
      if (std::ranges::none_of(edits, [&](const ptx::Edit& edit) {
            return edit.text.empty() && edit.where == ptx::range_of(kernel.body, id);
          }))
        origin.push_back(id);
    if (!take(kernel, edited_text(kernel.body, std::move(edits)), origin)) return std::nullopt;
  }
  for (unsigned n = 0; n < most_rounds; ++n) {
    const emulator::Kernel& now = made ? made->other.kernel : kernel;
    if (!has_several_ways(now)) return made;
    const std::vector<Pair> pairs = PairFinder(now).run();
    if (pairs.empty()) return std::nullopt;
    PairWriter writer(now.body);
    std::string text = writer.run(pairs);
    if (!take(now, std::move(text), writer.origin())) return std::nullopt;
  }
  return std::nullopt;
}

} // namespace ptxasw::passes
