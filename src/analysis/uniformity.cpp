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
    spread_.assign(cfg.blocks.size(), Uniform::grid);
    result_.loops.assign(loops.loops.size(), Uniform::grid);
    collect_definitions();
  }

  Uniformity run() {
    do {
      changed_ = false;
      for (const BlockId block : cfg_.rpo)
        visit(block);
      for (std::uint32_t loop = 0; loop < forest_.loops.size(); ++loop)
        visit_loop(loop);
    } while (changed_);
    return std::move(result_);
  }

private:
  void collect_definitions() {
    defined_in_.resize(cfg_.blocks.size());
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

  template <class T> void raise(T& place, Uniform to) {
    if (to > place) {
      place = to;
      changed_ = true;
    }
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

  void visit(BlockId block) {
    const Block& b = cfg_.blocks[block];
    for (ptx::InstId i = b.first; i < b.end; ++i) {
      const Inst& inst = body_.insts[i];
      Uniform u = of_result(inst);
      if (inst.guard != ptx::none) u = std::max(u, result_.registers[inst.guard]);
      for (const Arg& dst : body_.dst(inst)) {
        if (dst.kind == Arg::Kind::reg) raise(result_.registers[dst.id], u);
      }
    }
    if (b.succs.size() < 2) return;
    const Inst& last = body_.insts[b.end - 1];
    Uniform u = last.guard != ptx::none ? result_.registers[last.guard] : Uniform::grid;
    if (ptx::group(last.op) != Group::exit) u = std::max(u, of_operands(last));
    raise(result_.branches[block], u);
    if (u > spread_[block]) { // liveness and definitions do not change: once per level
      spread_[block] = u;
      spread_to_joins(block, u);
    }
  }

  // Sync dependence: blocks that two successors of `branch` reach before its post-dominator.
  void spread_to_joins(BlockId branch, Uniform u) {
    const BlockId stop = cfg_.ipdom[branch];
    std::vector<std::uint8_t> reached(cfg_.blocks.size(), 0); // by how many successors, at most 2
    std::vector<BlockId> region;
    for (const BlockId succ : cfg_.blocks[branch].succs) {
      std::vector<bool> seen(cfg_.blocks.size(), false);
      std::vector<BlockId> work{succ};
      seen[succ] = true;
      while (!work.empty()) {
        const BlockId b = work.back();
        work.pop_back();
        if (reached[b]++ == 0) region.push_back(b);
        if (b == stop) continue;
        for (const BlockId next : cfg_.blocks[b].succs) {
          if (!seen[next]) {
            seen[next] = true;
            work.push_back(next);
          }
        }
      }
    }
    for (const BlockId join : region) {
      if (reached[join] < 2) continue;
      for (const BlockId from : region) {
        if (from == stop) continue;
        for (const ptx::RegId reg : defined_in_[from]) {
          if (liveness_.live_in(join, reg)) raise(result_.registers[reg], u);
        }
      }
    }
  }

  // Temporal divergence.
  void visit_loop(std::uint32_t index) {
    const Loop& loop = forest_.loops[index];
    Uniform u = Uniform::grid;
    for (const auto& [from, to] : loop.exits)
      u = std::max(u, result_.branches[from]);
    if (u <= result_.loops[index]) return;
    raise(result_.loops[index], u);
    for (const BlockId b : loop.blocks) {
      for (const ptx::RegId reg : defined_in_[b])
        raise(result_.registers[reg], u);
    }
  }

  const ptx::Body& body_;
  const Cfg& cfg_;
  const LoopForest& forest_;
  const Liveness& liveness_;
  Uniformity result_;
  std::vector<std::vector<ptx::RegId>> defined_in_;
  std::vector<Uniform> spread_;
  bool changed_ = false;
};

} // namespace

Uniformity find_uniformity(const ptx::Body& body, const Cfg& cfg, const LoopForest& loops,
                           const Liveness& liveness) {
  return Fixpoint(body, cfg, loops, liveness).run();
}

} // namespace ptxasw::analysis
