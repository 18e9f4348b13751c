// Liveness by iteration in post-order until nothing changes.
#include "analysis/liveness.hpp"

#include <algorithm>

namespace ptxasw::analysis {

namespace {

using Row = std::span<std::uint64_t>;

void add_to(Row set, ptx::RegId reg) {
  set[reg / 64] |= std::uint64_t{1} << reg % 64;
}
void drop_from(Row set, ptx::RegId reg) {
  set[reg / 64] &= ~(std::uint64_t{1} << reg % 64);
}
// A destination picked by a selector (%r1.b0) or under a guard keeps part of the old value.
bool overwrites(const ptx::Inst& inst, const ptx::Arg& dst) {
  return inst.guard == ptx::none && dst.kind == ptx::Arg::Kind::reg && dst.selector.empty();
}

void step_back(const ptx::Body& body, const ptx::Inst& inst, Row live) {
  for (const ptx::Arg& dst : body.dst(inst))
    if (overwrites(inst, dst)) drop_from(live, dst.id);
  for_each_use(body, inst, [&](ptx::RegId reg) { add_to(live, reg); });
}

} // namespace

Liveness::Liveness(const ptx::Body& body, const Cfg& cfg)
    : stride_((body.registers.size() + 63) / 64), in_(stride_ * cfg.blocks.size()),
      out_(stride_ * cfg.blocks.size()) {
  Words live(stride_);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = cfg.rpo.rbegin(); b != cfg.rpo.rend(); ++b) {
      const Row out(out_.data() + *b * stride_, stride_), in(in_.data() + *b * stride_, stride_);
      for (const BlockId to : cfg.blocks[*b].succs)
        for (std::size_t w = 0; w < stride_; ++w)
          out[w] |= in_[to * stride_ + w];
      std::ranges::copy(out, live.begin());
      for (ptx::InstId i = cfg.blocks[*b].end; i-- > cfg.blocks[*b].first;)
        step_back(body, body.insts[i], live);
      if (std::ranges::equal(live, in)) continue;
      std::ranges::copy(live, in.begin());
      changed = true;
    }
  }
}

unsigned register_units(ptx::Type type) {
  switch (type) {
  case ptx::Type::pred: return 0;
  case ptx::Type::b64:
  case ptx::Type::u64:
  case ptx::Type::s64:
  case ptx::Type::f64:
  case ptx::Type::f32x2: return 2;
  case ptx::Type::b128: return 4;
  default: return 1;
  }
}

namespace {

bool is_read_behind(const ptx::Body& body, const Cfg& cfg, const Liveness& live, ptx::InstId inst,
                    ptx::RegId reg) {
  const BlockId block = cfg.block_of[inst];
  for (ptx::InstId i = inst + 1; i < cfg.blocks[block].end; ++i) {
    bool found = false;
    for_each_use(body, body.insts[i], [&](ptx::RegId used) { found |= used == reg; });
    if (found) return true;
    if (body.insts[i].guard == ptx::none && written(body, i, i + 1, reg)) return false;
  }
  return live.live_out(block, reg);
}

} // namespace

bool is_read(const ptx::Body& body, const Cfg& cfg, const Liveness& live, ptx::InstId inst) {
  bool found = false;
  for_each_definition(body, body.insts[inst],
                      [&](ptx::RegId reg) { found |= is_read_behind(body, cfg, live, inst, reg); });
  return found;
}

bool written(const ptx::Body& body, ptx::InstId first, ptx::InstId end, ptx::RegId reg) {
  bool found = false;
  for (ptx::InstId i = first; i < end && !found; ++i)
    for_each_definition(body, body.insts[i], [&](ptx::RegId r) { found |= r == reg; });
  return found;
}

std::vector<std::vector<ptx::InstId>> definitions(const ptx::Body& body) {
  std::vector<std::vector<ptx::InstId>> result(body.registers.size());
  for (ptx::InstId i = 0; i < body.insts.size(); ++i)
    for_each_definition(body, body.insts[i], [&](ptx::RegId reg) {
      if (result[reg].empty() || result[reg].back() != i) result[reg].push_back(i);
    });
  return result;
}

} // namespace ptxasw::analysis
