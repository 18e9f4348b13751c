// The fixpoint of uniformity.hpp.
#include "analysis/uniformity.hpp"

#include <algorithm>

namespace ptxasw::analysis {

using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::Space;

Uniform uniformity_of(ptx::Special special) {
  using enum ptx::Special;
  switch (special) {
  case ntid_x:
  case ntid_y:
  case ntid_z:
  case nctaid_x:
  case nctaid_y:
  case nctaid_z:
  case warp_size:
  case total_smem_size:
  case dynamic_smem_size:
  case gridid:
  case nclusterid_x:
  case nclusterid_y:
  case nclusterid_z:
  case cluster_nctaid_x:
  case cluster_nctaid_y:
  case cluster_nctaid_z:
  case cluster_nctarank:
  case is_explicit_cluster: return Uniform::grid;
  case ctaid_x:
  case ctaid_y:
  case ctaid_z:
  case clusterid_x:
  case clusterid_y:
  case clusterid_z:
  case cluster_ctaid_x:
  case cluster_ctaid_y:
  case cluster_ctaid_z:
  case cluster_ctarank: return Uniform::block;
  default: return Uniform::lane; // lane numbers, masks, clocks, and whatever may change under way
  }
}

namespace {

class Fixpoint {
public:
  Fixpoint(const ptx::Body& body, const Cfg& cfg, const LoopForest& loops, const Liveness& liveness)
      : body_(body), cfg_(cfg), forest_(loops), liveness_(liveness) {
    result_.registers.assign(body.registers.size(), Uniform::grid);
    result_.branches.assign(cfg.blocks.size(), Uniform::grid);
    result_.loops.assign(loops.loops.size(), Uniform::grid);
    defined_in_.resize(cfg.blocks.size());
    used_by_.resize(body.registers.size());
    waiting_.resize(body.registers.size());
    exit_of_.resize(cfg.blocks.size());
    reached_.resize(cfg.blocks.size());
    collect_definitions();
    for (const BlockId block : cfg.rpo)
      collect_uses(block);
    for (std::uint32_t loop = 0; loop < loops.loops.size(); ++loop)
      for (const auto& [from, to] : loops.loops[loop].exits)
        exit_of_[from].push_back(loop);
  }

  Uniformity run() {
    raise_parameters();
    for (const BlockId block : cfg_.rpo) {
      for (ptx::InstId i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i)
        visit(i);
      visit_branch(block);
    }
    for (std::uint32_t loop = 0; loop < forest_.loops.size(); ++loop)
      visit_loop(loop);
    while (!raised_.empty() && walked_ <= most_walked) {
      const ptx::RegId reg = raised_.back();
      raised_.pop_back();
      waiting_[reg] = false;
      for (const ptx::InstId i : used_by_[reg]) {
        visit(i);
        if (const BlockId block = cfg_.block_of[i]; i + 1 == cfg_.blocks[block].end)
          visit_branch(block);
      }
    }
    if (walked_ > most_walked) nothing_is_uniform();
    return std::move(result_);
  }

private:
  // Blocks that may be walked through in search of joins: with thousands of branches to one place
  // that grows with their square. Beyond it everything is taken to vary, which is always true.
  static constexpr std::size_t most_walked = std::size_t{1} << 22;

  void nothing_is_uniform() {
    std::ranges::fill(result_.registers, Uniform::lane);
    std::ranges::fill(result_.loops, Uniform::lane);
    for (BlockId b = 0; b < cfg_.blocks.size(); ++b)
      if (cfg_.blocks[b].succs.size() > 1) result_.branches[b] = Uniform::lane;
  }

  void collect_uses(BlockId block) {
    for (ptx::InstId i = cfg_.blocks[block].first; i < cfg_.blocks[block].end; ++i)
      for_each_use(body_, body_.insts[i], [&](ptx::RegId reg) {
        if (used_by_[reg].empty() || used_by_[reg].back() != i) used_by_[reg].push_back(i);
      });
  }

  void collect_definitions() {
    for (BlockId b = 0; b < cfg_.blocks.size(); ++b) {
      auto& registers = defined_in_[b];
      for (ptx::InstId i = cfg_.blocks[b].first; i < cfg_.blocks[b].end; ++i) {
        for (const Arg& dst : body_.dst(body_.insts[i])) {
          if (dst.kind == Arg::Kind::reg) registers.push_back(dst.id);
        }
      }
      std::ranges::sort(registers);
      registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
    }
  }

  void raise(ptx::RegId reg, Uniform to) {
    if (to <= result_.registers[reg]) return;
    result_.registers[reg] = to;
    if (!waiting_[reg]) raised_.push_back(reg);
    waiting_[reg] = true;
  }

  [[nodiscard]] Uniform of(const Arg& arg) const {
    switch (arg.kind) {
    case Arg::Kind::reg: return result_.registers[arg.id];
    case Arg::Kind::special: return uniformity_of(arg.special);
    default: return Uniform::grid;
    }
  }

  [[nodiscard]] Uniform of_operands(const Inst& inst) const {
    Uniform u = Uniform::grid;
    for (const Arg& src : body_.src(inst))
      u = std::max(u, of(src));
    for (const ptx::Address& address : body_.addr(inst))
      u = std::max(u, of(address.base));
    return u;
  }

  // Registers in which a function gets what each lane passes.
  void raise_parameters() {
    for (const ptx::Variable& parameter : body_.function->parameters)
      for (ptx::RegId reg = 0; reg < body_.registers.size(); ++reg)
        if (parameter.space == Space::reg && body_.registers[reg].name == parameter.name)
          raise(reg, Uniform::lane);
  }

  // How the value that an instruction produces varies, its guard aside.
  [[nodiscard]] Uniform of_result(const Inst& inst) const {
    if (inst.opaque) return Uniform::lane;
    if (ptx::group(inst.op) == Group::pure) return of_operands(inst);
    if (ptx::group(inst.op) == Group::load) {
      const bool constant_memory =
          inst.mods.space == Space::const_ || inst.mods.nc || reads_kernel_parameter(inst);
      return constant_memory ? of_operands(inst) : Uniform::lane;
    }
    return Uniform::lane;
  }

  // Not the .param variables of a call: those hold what this thread's callee returned.
  [[nodiscard]] bool reads_kernel_parameter(const Inst& inst) const {
    if (inst.mods.space != Space::param || !body_.function->is_entry) return false;
    return std::ranges::all_of(body_.addr(inst), [&](const ptx::Address& address) {
      return address.base.kind == Arg::Kind::symbol &&
             body_.symbols[address.base.id].kind == ptx::Symbol::Kind::parameter;
    });
  }

  void visit(ptx::InstId i) {
    const Inst& inst = body_.insts[i];
    Uniform u = of_result(inst);
    if (inst.guard != ptx::none) u = std::max(u, result_.registers[inst.guard]);
    for (const Arg& dst : body_.dst(inst)) {
      if (dst.kind == Arg::Kind::reg) raise(dst.id, u);
    }
  }

  void visit_branch(BlockId block) {
    const Block& b = cfg_.blocks[block];
    if (b.succs.size() < 2) return;
    const Inst& last = body_.insts[b.end - 1];
    Uniform u = last.guard != ptx::none ? result_.registers[last.guard] : Uniform::grid;
    if (ptx::group(last.op) != Group::exit) u = std::max(u, of_operands(last));
    if (u <= result_.branches[block]) return;
    result_.branches[block] = u;
    spread_to_joins(block, u);
    for (const std::uint32_t loop : exit_of_[block])
      visit_loop(loop);
  }

  // Sync dependence: blocks that two successors of `branch` reach before its post-dominator.
  void spread_to_joins(BlockId branch, Uniform u) {
    if (walked_ > most_walked) return;
    Walks walks = walk_from(branch, u);
    std::erase_if(walks.joins, [&](BlockId join) { return liveness_.nothing_live_in(join); });
    if (walks.joins.empty()) return;
    const auto is_live_behind = [&](ptx::RegId reg) {
      return std::ranges::any_of(walks.joins,
                                 [&](BlockId join) { return liveness_.live_in(join, reg); });
    };
    for (const BlockId from : walks.region)
      if (from != cfg_.ipdom[branch])
        for (const ptx::RegId reg : defined_in_[from])
          if (result_.registers[reg] < u && is_live_behind(reg)) raise(reg, u);
  }

  // From each successor of a branch to its post-dominator: the blocks that some reach, and those
  // that more than one does.
  struct Walks {
    std::vector<BlockId> region, joins;
  };
  Walks walk_from(BlockId branch, Uniform u) {
    const auto& succs = cfg_.blocks[branch].succs;
    Walks walks;
    for (std::uint32_t n = 0; n < succs.size(); ++n) {
      std::vector<BlockId> work;
      const auto reach = [&](BlockId b) {
        Reached& r = reached_[b];
        if (r.branch != branch || r.level != u) {
          r = {branch, u, n, 1};
          walks.region.push_back(b);
        } else if (r.successor != n) {
          r.successor = n;
          if (++r.count == 2) walks.joins.push_back(b);
        } else {
          return;
        }
        work.push_back(b);
      };
      reach(succs[n]);
      while (!work.empty()) {
        const BlockId b = work.back();
        work.pop_back();
        ++walked_;
        if (b == cfg_.ipdom[branch]) continue;
        for (const BlockId next : cfg_.blocks[b].succs)
          reach(next);
      }
    }
    return walks;
  }

  // Temporal divergence.
  void visit_loop(std::uint32_t index) {
    const Loop& loop = forest_.loops[index];
    Uniform u = Uniform::grid;
    for (const auto& [from, to] : loop.exits)
      u = std::max(u, result_.branches[from]);
    if (u <= result_.loops[index]) return;
    result_.loops[index] = u;
    for (const BlockId b : loop.blocks) {
      for (const ptx::RegId reg : defined_in_[b])
        raise(reg, u);
    }
  }

  const ptx::Body& body_;
  const Cfg& cfg_;
  const LoopForest& forest_;
  const Liveness& liveness_;
  Uniformity result_;
  std::vector<std::vector<ptx::RegId>> defined_in_; // by block
  std::vector<std::vector<ptx::InstId>> used_by_;   // by register
  std::vector<std::vector<std::uint32_t>> exit_of_; // by block: the loops that it may leave
  std::vector<ptx::RegId> raised_;                  // whose users have not been told
  std::vector<bool> waiting_;                       // in raised_
  struct Reached { // in the walk from this branch at this level: last from this successor
    BlockId branch = no_block;
    Uniform level = Uniform::grid;
    std::uint32_t successor = 0, count = 0;
  };
  std::vector<Reached> reached_;
  std::size_t walked_ = 0;
};

} // namespace

Uniformity find_uniformity(const ptx::Body& body, const Cfg& cfg, const LoopForest& loops,
                           const Liveness& liveness) {
  return Fixpoint(body, cfg, loops, liveness).run();
}

} // namespace ptxasw::analysis
