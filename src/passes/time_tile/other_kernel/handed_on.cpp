// Writes instructions with other names.
#include "passes/time_tile/other_kernel/handed_on.hpp"

#include "ptx/written.hpp"

#include <string>
#include <utility>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::InstId;

void HandedOn::rename(InstId id, std::vector<ptx::Edit>& edits) const {
  const ptx::Range range = ptx::range_of(k_.body, id);
  bool any = false;
  std::string text = names_.spliced(range, [&](const ptx::Mention& mention) {
    const auto found = renamed_.find(mention.arg.id);
    if (mention.arg.kind != Arg::Kind::reg || found == renamed_.end())
      return std::string(k_.body.module->slice(mention.where));
    any = true;
    return name_at(found->second, id, mention).name;
  });
  if (any) edits.push_back({range, std::move(text)});
}

void HandedOn::rename_block(analysis::BlockId block, InstId left_out,
                            std::vector<ptx::Edit>& edits) const {
  for (InstId id = k_.cfg.blocks[block].first; id < k_.cfg.blocks[block].end; ++id)
    if (id != left_out) rename(id, edits);
}

const ptx::Reg& HandedOn::name_at(const Renamed& names, InstId id,
                                  const ptx::Mention& mention) const {
  const ptx::Reg* name = &names.now;
  for (const Written& written : names.then)
    if (id == written.by ? is_result(id, mention) : k_.cfg.dominates_inst(written.by, id))
      name = &written.name;
  return *name;
}

bool HandedOn::is_result(InstId id, const ptx::Mention& mention) const {
  const ptx::Instruction& written = ptx::syntax_of(k_.body, k_.body.insts[id]);
  const ptx::Range result = k_.body.module->operands_of(written)[0].range;
  return mention.where.end <= result.end && mention.where.begin >= result.begin;
}

} // namespace ptxasw::passes
