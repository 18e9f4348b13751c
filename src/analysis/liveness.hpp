// Classic backward liveness over the registers of a body.
#pragma once

#include "analysis/cfg.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ptxasw::analysis {

class Liveness {
public:
  Liveness(const ptx::Body& body, const Cfg& cfg);
  [[nodiscard]] bool live_in(BlockId block, ptx::RegId reg) const { return has(in_, block, reg); }
  [[nodiscard]] bool live_out(BlockId block, ptx::RegId reg) const { return has(out_, block, reg); }
  [[nodiscard]] bool nothing_live_in(BlockId block) const {
    const auto row = in_.begin() + static_cast<std::ptrdiff_t>(block * stride_);
    return std::all_of(row, row + static_cast<std::ptrdiff_t>(stride_),
                       [](std::uint64_t word) { return word == 0; });
  }

private:
  using Words = std::vector<std::uint64_t>; // one row of `stride_` words per block
  [[nodiscard]] bool has(const Words& set, BlockId block, ptx::RegId reg) const {
    return (set[block * stride_ + reg / 64] >> reg % 64 & 1) != 0;
  }

  std::size_t stride_ = 0;
  Words in_, out_;
};

// 32-bit registers that a value of this type takes up; 0 for predicates.
unsigned register_units(ptx::Type type);

// The registers that an instruction reads (guard included) and those that it writes. A guarded
// instruction may leave its destinations as they were.
void for_each_use(const ptx::Body& body, const ptx::Inst& inst, auto&& visit) {
  if (inst.guard != ptx::none) visit(inst.guard);
  for (const ptx::Arg& arg : body.src(inst))
    if (arg.kind == ptx::Arg::Kind::reg) visit(arg.id);
  for (const ptx::Address& address : body.addr(inst))
    if (address.base.kind == ptx::Arg::Kind::reg) visit(address.base.id);
}
void for_each_definition(const ptx::Body& body, const ptx::Inst& inst, auto&& visit) {
  for (const ptx::Arg& arg : body.dst(inst))
    if (arg.kind == ptx::Arg::Kind::reg) visit(arg.id);
}
// Somebody reads some of what the instruction writes.
bool is_read(const ptx::Body& body, const Cfg& cfg, const Liveness& live, ptx::InstId inst);
// Some instruction of [first, end) writes `reg`.
bool written(const ptx::Body& body, ptx::InstId first, ptx::InstId end, ptx::RegId reg);

// All places that write each register, in program order.
std::vector<std::vector<ptx::InstId>> definitions(const ptx::Body& body);

} // namespace ptxasw::analysis
