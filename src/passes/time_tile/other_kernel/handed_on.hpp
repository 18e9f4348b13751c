// Registers that a loop hands on, in a text in which an iteration is a thread: what they hold when
// it begins has another name than what the next one would have.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/bindings.hpp"

#include <map>
#include <vector>

namespace ptxasw::passes {

class HandedOn {
public:
  HandedOn(const emulator::Kernel& kernel, const Names& names) : k_(kernel), names_(names) {}

  // Of `reg`: its name when the iteration begins, and from each of the instructions on that write
  // it. Each of these dominates the next one.
  struct Written {
    ptx::InstId by = 0;
    ptx::Reg name;
  };
  void add(ptx::RegId reg, ptx::Reg now, std::vector<Written> then) {
    renamed_[reg] = {std::move(now), std::move(then)};
  }
  [[nodiscard]] bool has(ptx::RegId reg) const { return renamed_.contains(reg); }

  // The instructions of the block with these names, but for `left_out`.
  void rename_block(analysis::BlockId block, ptx::InstId left_out,
                    std::vector<ptx::Edit>& edits) const;

private:
  void rename(ptx::InstId id, std::vector<ptx::Edit>& edits) const;
  struct Renamed {
    ptx::Reg now;
    std::vector<Written> then;
  };
  [[nodiscard]] const ptx::Reg& name_at(const Renamed& names, ptx::InstId id,
                                        const ptx::Mention& mention) const;
  [[nodiscard]] bool is_result(ptx::InstId id, const ptx::Mention& mention) const;

  const emulator::Kernel& k_;
  const Names& names_;
  std::map<ptx::RegId, Renamed> renamed_;
};

} // namespace ptxasw::passes
