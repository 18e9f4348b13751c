// The rules, each with the reason that a user reads.
#include "passes/shared/remap_rules.hpp"

#include "analysis/reachability.hpp"
#include "passes/shared/block_rules.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ptxasw::passes {

using analysis::BlockId;
using ptx::Arg;
using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Special;

namespace {

bool tells_of_clusters(Special special) {
  return special >= Special::clusterid_x && special <= Special::is_explicit_cluster;
}

// By name, whatever the modifiers of the future are: .cluster, .shared::cluster,
// .multicast::cluster, .cta_group::2.
bool concerns_cluster(const ptx::Body& body, const Inst& inst) {
  if (inst.op == Op::mapa || inst.op == Op::getctarank || inst.op == Op::clusterlaunchcontrol)
    return true;
  const auto modifiers = body.module->modifiers_of(ptx::syntax_of(body, inst));
  return std::ranges::any_of(modifiers, [](std::string_view modifier) {
    return modifier.find("cluster") != modifier.npos || modifier == ".cta_group::2";
  });
}

// What it calls could read %ctaid itself; these do not.
bool is_harmless_call(const ptx::Body& body, const Inst& inst) {
  if (inst.callee == ptx::none) return false;
  const ptx::Function& callee = body.module->functions[inst.callee];
  return callee.is_declaration &&
         (callee.name == "vprintf" || callee.name == "malloc" || callee.name == "free");
}

// Can the block be run again after it has been left?
bool repeats(const analysis::Cfg& cfg, BlockId block) {
  return analysis::reached_from(cfg, block)[block];
}

// Could its result, asked for again and again, be what the block waits for? A weak load may be
// done once for all, and red has no result.
bool can_watch_other_blocks(const ptx::Body& body, const Inst& inst) {
  const ptx::Effects effects = ptx::effects(body, inst);
  if (!effects.ordered || !effects.reads_memory || inst.op == Op::red) return false;
  const Group group = ptx::group(inst.op);
  if (group != Group::load && group != Group::atomic) return false;
  return effects.space != ptx::Space::shared && effects.space != ptx::Space::local;
}

Why why_not_moved_with_block(const emulator::Kernel& kernel, InstId id) {
  const ptx::Body& body = kernel.body;
  const Inst& inst = body.insts[id];
  if (concerns_cluster(body, inst))
    return at_line(body, inst, Reason::clusters, "ties the index of a block to its cluster");
  if (ptx::group(inst.op) == Group::call && !is_harmless_call(body, inst))
    return at_line(body, inst, Reason::call, "what it calls may read the index of its block");
  if (can_watch_other_blocks(body, inst) && repeats(kernel.cfg, kernel.cfg.block_of[id]))
    return at_line(body, inst, Reason::polling,
                   "in a loop; it may wait for a block that is expected to be launched earlier");
  for (const Arg& src : body.src(inst)) {
    if (src.kind == Arg::Kind::special && tells_of_clusters(src.special))
      return at_line(body, inst, Reason::reads_special,
                     fmt::format("reads {}", ptx::info(src.special).name));
  }
  return {};
}

// The width at which the instruction reads its sources.
unsigned source_width(const Inst& inst) {
  const bool second = inst.op == Op::cvt || inst.op == Op::set;
  if (inst.op == Op::slct) return 0; // two widths
  return ptx::bit_width(second ? inst.mods.type2 : inst.mods.type);
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    ++n;
  return n;
}

} // namespace

Why why_blocks_not_permutable(const emulator::Kernel& kernel) {
  if (const Why why = why_not_a_plain_kernel(kernel); !why.empty()) return why;
  for (InstId id = 0; id < kernel.body.insts.size(); ++id) {
    if (const Why why = why_not_moved_with_block(kernel, id); !why.empty()) return why;
  }
  return {};
}

Why why_threads_not_permutable(const emulator::Kernel& kernel) {
  const ptx::Body& body = kernel.body;
  if (const Why why = why_not_a_plain_kernel(kernel); !why.empty()) return why;
  // Generic addresses reach what the module or the kernel declares for the block.
  for (const ptx::Symbol& symbol : body.symbols) {
    if (symbol.kind == ptx::Symbol::Kind::variable && symbol.space == ptx::Space::shared)
      return {Reason::shared_memory, fmt::format("uses {}, in shared memory", symbol.name)};
  }
  for (const Inst& inst : body.insts) {
    if (const Why why = why_threads_synchronize(body, inst); !why.empty()) return why;
    for (const Arg& src : body.src(inst)) {
      // Lanes of a warp that belonged together are apart afterwards.
      if (src.kind == Arg::Kind::special && ptx::is_lane(src.special))
        return at_line(body, inst, Reason::reads_special,
                       fmt::format("reads {}", ptx::info(src.special).name));
    }
  }
  return {};
}

Why why_not_replaced(const emulator::Kernel& kernel, std::span<const Special> specials) {
  const ptx::Body& body = kernel.body;
  for (const Special special : specials) {
    const std::string_view name = ptx::info(special).name;
    const std::string_view vector = name.substr(0, name.find('.')); // %ctaid
    for (const Inst& inst : body.insts) {
      std::size_t known = 0; // reads of any component
      for (const Arg& src : body.src(inst)) {
        if (src.kind != Arg::Kind::special) continue;
        known += static_cast<std::size_t>(ptx::info(src.special).name.starts_with(vector));
        if (src.special == special && source_width(inst) != 32)
          return at_line(body, inst, Reason::index_form,
                         fmt::format("reads {} in an unusual width", name));
      }
      const auto written = body.module->slice(ptx::range_of(body, inst));
      if (count(written, std::string(vector) + '.') != known)
        return at_line(body, inst, Reason::index_form,
                       fmt::format("names {} in an unusual way", vector));
    }
  }
  return {};
}

} // namespace ptxasw::passes
