// Compares what ptxas says of rewritten kernels with what it said of the originals.
#include "oracle/register_guard.hpp"

#include "ptx/parse.hpp"
#include "ptx/written.hpp"
#include "sass/machine_code.hpp"
#include "sass/same_body.hpp"
#include "target/residency.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace ptxasw::oracle {
namespace {

// Whatever the original used.
bool fits_anywhere(const Usage& usage, unsigned registers) {
  return usage.registers <= registers && !target::needs_more_memory(usage, {});
}

// Launches wherever the original did, as many blocks at a time, and needs no more memory.
bool may_stand(const Usage& after, const Usage& before, const Launches& launches) {
  if (target::needs_more_memory(after, before)) return false;
  if (launches.resident &&
      target::block_that_loses({before.registers, before.shared}, {after.registers, after.shared},
                               *launches.resident, launches.shared_per_sm) != 0)
    return false;
  return launches.states_size ||
         target::block_that_fails(before.registers, after.registers, launches.sizes) == 0;
}

using Without = std::function<Printed(const std::vector<Reverted>&)>;

std::vector<std::string> changed_kernels(const Printed& rewritten) {
  std::vector<std::string> changed;
  for (const Changed& one : rewritten.changed)
    changed.push_back(one.kernel);
  return changed;
}

// Of the kernels of a text that the assembler did not take, those for which it does not take any
// text; all, if it does of each by itself.
std::vector<Reverted> refused_ones(const std::vector<std::string>& changed,
                                   const std::vector<Reverted>& reverted, Assembler& assembler,
                                   const Without& without) {
  std::vector<Reverted> all, guilty;
  const std::string why = assembler.refusal();
  for (const std::string& kernel : changed)
    all.push_back({kernel, {}, {}, why});
  if (changed.size() == 1) return all;
  for (const Reverted& one : all) {
    std::vector<Reverted> others = reverted;
    std::ranges::copy_if(all, std::back_inserter(others),
                         [&](const Reverted& other) { return other.kernel != one.kernel; });
    if (assembler.assemble({.text = without(others).made.text, .entries = {one.kernel}})) continue;
    guilty.push_back({one.kernel, {}, {}, assembler.refusal()});
  }
  return guilty.empty() ? all : guilty;
}

// Only these can be made larger by what a function needs.
std::vector<std::string> kernels_that_call(const ptx::Module& module) {
  std::vector<std::string> kernels;
  for (const ptx::Function& f : module.functions) {
    if (!f.is_entry || f.is_declaration) continue;
    const auto body = module.body_of(f);
    const bool calls = std::ranges::any_of(body, [&](const ptx::Statement& statement) {
      return statement.kind == ptx::StatementKind::instruction &&
             module.instructions[statement.index].op == ptx::Op::call;
    });
    if (calls || f.has_opaque) kernels.emplace_back(f.name);
  }
  return kernels;
}

} // namespace

std::vector<Reverted> kernels_to_revert(std::span<const std::string> changed,
                                        const UsageTable& after, const Questions& questions) {
  std::vector<Reverted> back;
  std::vector<std::string> open;
  for (const std::string& kernel : changed) {
    const auto now = after.find(kernel);
    if (now == after.end()) {
      if (after.empty()) back.push_back({kernel, {}, {}});
      continue;
    }
    if (now->second && now->second->shared == 0 &&
        fits_anywhere(*now->second, target::registers_for_all_blocks))
      continue;
    // Not even one that needed nothing could do more.
    if (now->second && may_stand(*now->second, {}, questions.launches(kernel))) continue;
    open.push_back(kernel);
  }
  if (open.empty()) return back;
  const UsageTable before = questions.before(open);
  for (const std::string& kernel : open) {
    const std::optional<Usage> now = find(after, kernel), old = find(before, kernel);
    if (!now || !may_stand(*now, old.value_or(Usage{}), questions.launches(kernel)))
      back.push_back({kernel, old, now});
  }
  return back;
}

std::vector<Reverted> functions_to_revert(std::span<const std::string> changed,
                                          const std::string& original, const UsageTable& after,
                                          const Questions& questions) {
  std::vector<Reverted> back, own;
  const auto is_compiled = [&](const std::string& name) { return after.contains(name); };
  if (std::ranges::all_of(changed, is_compiled)) return back; // kernels
  const ptx::Module module = ptx::parse(original);
  for (const ptx::Function& f : module.functions) {
    if (f.is_entry || f.is_declaration || std::ranges::count(changed, f.name) == 0) continue;
    (f.visible || f.weak ? back : own).push_back({std::string(f.name), {}, {}});
  }
  if (own.empty()) return back;
  const auto failed = kernels_to_revert(kernels_that_call(module), after, questions);
  if (failed.empty()) return back;
  for (Reverted& one : own) {
    one.before = failed.front().before;
    one.after = failed.front().after;
    back.push_back(std::move(one));
  }
  return back;
}

std::vector<Reverted> kernels_with_another_body(std::span<const Changed> changed,
                                                const Assembled& original,
                                                const Assembled& rewritten) {
  std::vector<Reverted> back;
  const auto before = sass::decoded(original.cubin), after = sass::decoded(rewritten.cubin);
  const UsageTable was = read_usage(original.messages), is = read_usage(rewritten.messages);
  for (const Changed& one : changed) {
    if (!one.keeps_body || !is.contains(one.kernel)) continue; // left out with -e
    const auto old = before.find(one.kernel), now = after.find(one.kernel);
    std::string why = "it is not known";
    if (old != before.end() && now != after.end())
      why = sass::why_not_same_body(old->second, now->second);
    if (!why.empty())
      back.push_back({one.kernel, find(was, one.kernel), find(is, one.kernel), {}, why});
  }
  return back;
}

Committed commit_rewrites(Printed rewritten, const std::string& original, Assembler& assembler,
                          const LaunchesOf& launches, const Without& without) {
  std::vector<Reverted> reverted;
  while (rewritten.made.changed) {
    const std::vector<std::string> changed = changed_kernels(rewritten);
    const auto as_they_were = [&](const std::vector<std::string>& kernels) {
      return assembler.assemble(
          {.text = original, .entries = kernels, .purpose = AssemblyRequest::Purpose::original});
    };
    const Questions questions{[&](const std::vector<std::string>& kernels) {
                                const auto before = as_they_were(kernels);
                                return before ? read_usage(before->messages) : UsageTable{};
                              },
                              launches};
    const auto kept = assembler.keep(rewritten.made.text);
    // One that does not take the original either says nothing of the rewrite.
    if (!kept && !as_they_were(changed)) break;
    auto back = kept ? kernels_to_revert(changed, read_usage(kept->messages), questions)
                     : refused_ones(changed, reverted, assembler, without);
    if (back.empty() && kept)
      back = functions_to_revert(changed, original, read_usage(kept->messages), questions);
    const bool any_keeps = std::ranges::any_of(rewritten.changed, &Changed::keeps_body);
    if (back.empty() && kept && any_keeps)
      if (const auto before = as_they_were(changed))
        back = kernels_with_another_body(rewritten.changed, *before, *kept);
    if (back.empty()) break;
    reverted.insert(reverted.end(), back.begin(), back.end());
    rewritten = without(reverted);
  }
  return {std::move(rewritten), std::move(reverted)};
}

} // namespace ptxasw::oracle
