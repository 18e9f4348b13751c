// What launches have to reach, found in the code, and what they have reached.
#include "simt/goals.hpp"

#include "simt/code.hpp"

#include <algorithm>
#include <map>

namespace ptxasw::simt {

namespace {

using ptx::Op;
using ptx::Space;

bool shares_memory(const ptx::Inst& inst) {
  switch (ptx::group(inst.op)) {
  case ptx::Group::load:
  case ptx::Group::store:
  case ptx::Group::atomic:
  case ptx::Group::async_copy: break;
  default: return false;
  }
  const Space space = inst.mods.space;
  return inst.addr.count != 0 &&
         (space == Space::generic || space == Space::global || space == Space::shared);
}

bool writes(const ptx::Inst& inst) {
  const ptx::Group group = ptx::group(inst.op);
  return shares_memory(inst) && (group == ptx::Group::store || group == ptx::Group::atomic);
}

// The instruction as it is written, blanks aside.
std::string words_of(const Program& program, const ptx::Inst& inst) {
  const ptx::Module& module = *program.module;
  std::string words;
  for (const char c : module.slice(module.statements[inst.statement].range)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      words += c;
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  return words;
}

struct Site {
  ptx::InstId inst;
  std::string words;
};

// Accesses and exchanges of a kernel.
std::vector<Site> sites_of(const Program& program) {
  std::vector<Site> sites;
  const auto& insts = program.codes.front()->body.insts;
  for (ptx::InstId i = 0; i < insts.size(); ++i)
    if (shares_memory(insts[i]) || insts[i].op == Op::shfl)
      sites.push_back({i, words_of(program, insts[i])});
  return sites;
}

} // namespace

std::vector<Goal> find_goals(const Program& first, const Program& second) {
  const std::vector<Site> before = sites_of(first), after = sites_of(second);
  std::map<std::string_view, int> more; // in the second than in the first
  for (const Site& site : before)
    --more[site.words];
  for (const Site& site : after)
    ++more[site.words];
  const auto changed = [&](const Site& site) { return more.at(site.words) != 0; };
  const bool none_changed =
      std::ranges::none_of(before, changed) && std::ranges::none_of(after, changed);
  std::vector<Goal> goals;
  for (const Site& site : before) {
    const ptx::Inst& inst = first.codes.front()->body.insts[site.inst];
    const bool load = ptx::group(inst.op) == ptx::Group::load;
    if (changed(site) || writes(inst) || none_changed)
      goals.push_back({false, site.inst, changed(site) && load});
  }
  for (const Site& site : after) {
    const ptx::Inst& inst = second.codes.front()->body.insts[site.inst];
    if (changed(site)) goals.push_back({true, site.inst, inst.op == Op::shfl});
  }
  return goals;
}

void Coverage::add(const Coverage& other) {
  const auto merge = [](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = std::max(to[i], from[i]);
  };
  merge(first, other.first);
  merge(second, other.second);
}

unsigned Coverage::lanes(const Goal& goal) const {
  const std::vector<std::uint8_t>& of = goal.second ? second : first;
  return goal.inst < of.size() ? of[goal.inst] : 0;
}

} // namespace ptxasw::simt
