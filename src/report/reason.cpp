#include "report/reason.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace ptxasw::report {
namespace {

constexpr auto table = std::to_array<Reason>({
    // The function as a whole.
    {"internal-error", "internal error", "the program failed; please report it"},
    {"budget-time", "time budget", "its analysis takes more work than --kernel-budget allows"},
    {"budget-clock", "the clock stopped", "its analysis took many times --kernel-budget"},
    {"budget-memory", "memory budget", "its analysis takes more memory than allowed"},
    {"unreadable", "could not be read", "a statement could not be read"},
    {"unreadable", "texts of 4 GiB", ""},
    {"unknown-name", "is not declared", "a name could not be resolved"},
    {"unknown-name", "could not be resolved", ""},
    {"unknown-name", "is not a label in sight", ""},
    {"unknown-name", "is not a predicate register", ""},
    {"unknown-name", "would be another register", ""},
    {"special-name", "name of a special register", "it declares a name that means another thing"},
    {"unknown-instruction", "unknown instruction", "an instruction that is not known"},
    {"unknown-instruction", "without semantics", ""},
    {"irreducible", "irreducible", "control flow with a loop of two entries"},
    {"not-a-kernel", "not a kernel", "a function that is not launched"},
    {"fusing-unknown", "which products of", "ptxas chooses what it fuses, and that is not known"},
    {"fusing-unknown", "hidden product", ""},
    {"fusing-unknown", "may hide a product", ""},
    {"folding-unknown", "folds", "ptxas chooses which approximate functions it folds"},
    {"folding-unknown", "folded", ""},
    {"folding-unknown", "not made one with", ""},
    // What ptxas made of it.
    {"ptxas-refused", "ptxas says", "ptxas did not take the rewritten kernel"},
    {"ptxas-refused", "ptxas did not take", ""},
    {"not-assembled", "not assembled", "ptxas gave nothing to judge by"},
    {"trial-time", "took too long", "ptxas needed many times the original's time"},
    {"registers", "could not be launched",
     "so many registers that blocks would not launch, or fewer at a time"},
    {"registers", "an SM would hold", ""},
    {"registers", "and might not launch, or not in as many blocks", ""},
    {"spills", "spills", "it would spill registers"},
    {"stack", "bytes of stack", "it would need more stack"},
    {"machine-code", "its machine code", "the machine code is not what was expected"},
    {"machine-code", "machine code", ""},
    // Whether it pays.
    {"search-budget", "--coarsen-budget", "to try the ways takes more than --coarsen-budget"},
    {"ptxas-not-asked", "ptxas was not asked", "ways are known, but nobody asked ptxas"},
    {"chip-unknown", "nothing is known of", "no cost model for this architecture"},
    {"gains-too-little", "gains too little", "the best way gains less than is asked for"},
    {"gains-too-little", "would not pay", ""},
    {"gains-too-little", "would only go from", ""},
    {"gains-too-little", "gain nothing", ""},
    {"gains-too-little", "times as many lines into L1", ""},
    {"gains-too-little", "sectors, and would touch", ""},
    {"gains-too-little", "loses against", ""},
    {"gains-too-little", "is known to pay", ""},
    {"vertical-access", "reads a line of its own", "its lanes walk down columns"},
    {"nothing-to-share", "share nothing", "the copies of the kernel would share nothing"},
    {"nothing-to-share", "nothing to share", ""},
    {"too-large", "too large", "too many instructions for so many copies"},
    {"too-large", "too many copies", ""},
    {"other-rewrite", "are taken from other lanes", "another rewrite was preferred"},
    {"other-rewrite", "is to be remapped", ""},
    {"other-rewrite", "its blocks are merged", ""},
    {"other-rewrite", "do each other's work", ""},
    {"other-rewrite", "are carried from trip", ""},
    {"other-rewrite", "its trees are in registers", ""},
    {"not-asked", "no axis to coarsen", "nothing was asked for"},
    {"not-asked", "nothing is asked for", ""},
    // Why blocks or threads cannot be moved or merged.
    {"axis-unread", "it does not read %", "the kernel does not depend on that index"},
    {"axis-unread", "it has one axis only", ""},
    {"index-form", "%ctaid.x * %ntid.x", "its indices have another form than the rewrite needs"},
    {"index-form", "in an unusual w", ""},
    {"polling", "launched earlier", "it may wait for another block"},
    {"polling", "wait for another block", ""},
    {"clusters", "cluster", "its blocks form clusters"},
    {"debug-labels", "debug information", "debug information names its labels"},
    {"carry-flag", "carry chain", "carry chains"},
    {"local-memory", "local memory", "local memory of the thread"},
    {"shared-memory", "shared memory", "shared memory of the block"},
    {"dynamic-shared-memory", "the host says how large", "shared memory of unknown size"},
    {"destroys-memory", "destroys memory", "discard"},
    {"surface", "surface", "surfaces"},
    {"barrier", "waits for other threads", "a barrier"},
    {"fence", "orders memory for other blocks", "a fence"},
    {"atomic", "observe each other", "an atomic operation"},
    {"warp-operation", "which lanes run together", "votes, shuffles, masks"},
    {"call", ": a call", "a call"},
    {"call", "what it calls", ""},
    {"copies-part", "copies may go different ways", "copies may take different branches"},
    {"reads-special", ": reads %", "it reads a special register that must not change"},
    {"not-handled", "not handled", "an instruction or form that the rewrite does not handle"},
    {"not-handled", "in an unusual", ""},
    // Why a load is done.
    {"ordered", "volatile or ordered", "a volatile or ordered access"},
    {"cache-operator", "cache operator", "a cache operator that asks for a fresh copy"},
    {"loop-trips", "trip count may differ", "lanes may be in different trips of a loop"},
    {"register-width", "does not fill its register", "the value does not fill its register"},
    {"old-module", "activemask came with", "the module's .version is too old for shuffles"},
    {"old-module", "older than shfl.sync", ""},
    {"tree-form", "no tree of a known form", "no tree in shared memory of a known form"},
    {"tree-form", "the rounds", ""},
    {"tree-form", "is no part of a tree", ""},
    {"tree-form", "a fixed distance", ""},
    {"tree-form", "there is no barrier", ""},
    {"tree-form", "two barriers in the loop", ""},
    {"tree-form", "not all threads come to the barrier", ""},
    {"tree-form", "both sides of the barrier", ""},
    {"tree-form", "of a part of a register", ""},
    {"tree-form", "an element of each thread", ""},
    {"tree-form", "no element that is known", ""},
    {"tree-form", "may overlap", ""},
    {"tree-form", "stay within a warp", ""},
    {"tree-form", "in the first round", ""},
    {"tree-form", "nothing is stored", ""},
    {"tree-form", "does not depend on %tid.x", ""},
    {"loop-form", "branches inside, and is not", "the loop has a form that is not rotated"},
    {"loop-form", "branch back to its beginning", ""},
    {"loop-form", "computed ahead of the loop", ""},
    {"no-source", "no earlier load", "no earlier load has it"},
    {"no-source", "no load of the trip before", ""},
    {"not-affine", "is not affine", "the address is not affine in the lane"},
    {"not-affine", "each lane holds for itself", ""},
    {"not-affine", "changes freely from trip", ""},
    {"not-dominated", "does not precede", "the load that has it does not always run before"},
    {"other-loop", "another loop nest", "the load that has it is in another loop"},
    {"other-type", "another width or type", "the load that has it is of another type"},
    {"read-only", ".nc", "only a read-only load has it"},
    {"predicated", "is predicated", "the load that has it may not have run"},
    {"ordered-between", "orders memory between", "memory is ordered between the two loads"},
    {"store-between", "may write it", "a store between the loads may write it"},
    {"not-proved", "not proved", "the addresses were not proved to be equal"},
    {"not-checkable", "in no register where", "a condition cannot be checked at run time"},
    {"other-scope", "another scope", "a register of another scope { }"},
    {"supplies-others", "supplies others", "it is the load that others take it from"},
    {"memory-kind", " memory", "memory of a kind that is not handled"},
    // Only said of kernels that nothing else is said of.
    {"no-loads", "loads nothing that", "it has no loads"},
    {"no-loads", "no loop loads anything", ""},
    {"nothing-found", "nothing to gain was found", "nothing was found to be gained"},
});

// The most frequent reason of the loads that were kept; the first of several.
std::string_view loads_reason(const KernelReport& kernel) {
  std::map<std::string_view, unsigned> counts;
  std::string_view most;
  for (const AccessReport& access : kernel.accesses) {
    if (access.is_store || access.outcome != Outcome::kept || access.reason.empty()) continue;
    if (++counts[access.reason] > counts[most]) most = access.reason;
  }
  return most;
}

} // namespace

std::span<const Reason> reasons() {
  return table;
}

bool is_refusal(std::string_view outcome) {
  return outcome.starts_with("not ");
}

std::string_view reason_code(std::string_view wording) {
  if (wording.empty()) return "";
  const auto found = std::ranges::find_if(table, [&](const Reason& reason) {
    return wording.find(reason.phrase) != std::string_view::npos;
  });
  return found == table.end() ? "other" : found->code;
}

std::vector<WhyNot> why_unchanged(const KernelReport& kernel) {
  std::vector<WhyNot> result;
  if (kernel.changed) return result;
  const auto say = [&](std::string_view rewrite, std::string_view text) {
    if (!text.empty()) result.push_back({rewrite, reason_code(text), std::string(text)});
  };
  say("all", kernel.reason);
  if (is_refusal(kernel.coarsening)) say("coarsening", kernel.coarsening);
  if (is_refusal(kernel.remapping)) say("remapping", kernel.remapping);
  if (is_refusal(kernel.rotation)) say("rotation", kernel.rotation);
  if (is_refusal(kernel.rounds)) say("rounds", kernel.rounds);
  say("shuffles", loads_reason(kernel));
  if (result.empty())
    say("all",
        kernel.loads == 0 ? "it loads nothing that could be shared" : "nothing to gain was found");
  return result;
}

const CoarsenCandidate* best_way(const KernelReport& kernel) {
  const auto chosen = std::ranges::find_if(kernel.candidates, &CoarsenCandidate::chosen);
  if (chosen != kernel.candidates.end()) return &*chosen;
  const auto best = std::ranges::max_element(kernel.candidates, {}, &CoarsenCandidate::gain);
  return best == kernel.candidates.end() ? nullptr : &*best;
}

} // namespace ptxasw::report
