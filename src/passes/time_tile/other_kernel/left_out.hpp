// What a kernel in another text (other_kernel.hpp) has no need of any more: computations and plain
// loads whose results nobody reads, and branches of which both ways meet again without anything in
// between that is needed.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"

#include <set>
#include <string>
#include <vector>

namespace ptxasw::passes {

class LeftOut {
public:
  // `without`: left out, whatever they do. `replaced`: something else is done in their place, of
  // what they read only the guards are needed.
  LeftOut(const emulator::Kernel& kernel, std::set<ptx::InstId> without,
          std::set<ptx::InstId> replaced = {});

  [[nodiscard]] bool is_needed(ptx::InstId id) const { return needed_.contains(id); }
  // What is left of an instruction that is not needed is a branch to where its ways meet.
  [[nodiscard]] bool is_branch(ptx::InstId id) const { return meets(id) != analysis::no_block; }
  // Labels begin with `label`.
  void add_edits(std::vector<ptx::Edit>& edits, const std::string& label) const;

private:
  [[nodiscard]] bool is_computation(ptx::InstId id) const;
  [[nodiscard]] analysis::BlockId meets(ptx::InstId id) const;
  [[nodiscard]] bool decides(ptx::InstId branch) const;
  void find_needed();

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const std::set<ptx::InstId> without_, replaced_;
  std::set<ptx::InstId> needed_;
};

} // namespace ptxasw::passes
