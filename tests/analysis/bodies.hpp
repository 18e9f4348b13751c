// Small bodies made by hand, so that these tests need no parser.
#pragma once

#include "ptx/body.hpp"

#include <initializer_list>
#include <vector>

namespace ptxasw::analysis {

// Appends instructions one by one; targets are instruction numbers, registers are plain numbers.
class BodyBuilder {
public:
  explicit BodyBuilder(std::vector<ptx::Type> registers = {}) {
    for (const ptx::Type type : registers)
      body_.registers.push_back({"", type});
  }

  BodyBuilder& op(ptx::Op op, std::vector<ptx::RegId> dst = {}, std::vector<ptx::RegId> src = {},
                  ptx::RegId guard = ptx::none) {
    ptx::Inst inst;
    inst.op = op;
    inst.guard = guard;
    inst.dst = args(dst);
    inst.src = args(src);
    body_.insts.push_back(inst);
    return *this;
  }
  BodyBuilder& branch(ptx::InstId target, ptx::RegId guard = ptx::none) {
    op(ptx::Op::bra, {}, {}, guard);
    return to({target});
  }
  BodyBuilder& table(std::vector<ptx::InstId> targets) {
    op(ptx::Op::brx);
    return to(targets);
  }
  BodyBuilder& load(ptx::RegId dst, ptx::RegId base) {
    op(ptx::Op::ld, {dst});
    body_.insts.back().addr = {static_cast<std::uint32_t>(body_.addresses.size()), 1};
    body_.addresses.push_back({reg(base), 0});
    return *this;
  }
  [[nodiscard]] const ptx::Body& body() const { return body_; }

private:
  static ptx::Arg reg(ptx::RegId id) {
    ptx::Arg arg;
    arg.kind = ptx::Arg::Kind::reg;
    arg.id = id;
    return arg;
  }
  ptx::Slice args(const std::vector<ptx::RegId>& ids) {
    const auto first = static_cast<std::uint32_t>(body_.args.size());
    for (const ptx::RegId id : ids)
      body_.args.push_back(reg(id));
    return {first, static_cast<std::uint32_t>(ids.size())};
  }
  BodyBuilder& to(const std::vector<ptx::InstId>& targets) {
    body_.insts.back().targets = {static_cast<std::uint32_t>(body_.targets.size()),
                                  static_cast<std::uint32_t>(targets.size())};
    body_.targets.insert(body_.targets.end(), targets.begin(), targets.end());
    return *this;
  }

  ptx::Body body_;
};

// One instruction per block: block b jumps to succs[b] through a table; without successors it is a
// ret. Block numbers are those of the list; succs.size() is the virtual exit.
inline ptx::Body graph(const std::vector<std::vector<ptx::InstId>>& succs) {
  BodyBuilder builder;
  for (const auto& targets : succs) {
    if (targets.empty())
      builder.op(ptx::Op::ret);
    else
      builder.table(targets);
  }
  return builder.body();
}

} // namespace ptxasw::analysis
