// Looks into what is called, and into what that calls.
#include "passes/shared/ending_calls.hpp"

#include "analysis/reachability.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ptxasw::passes {
namespace {

using ptx::Group;

// Device functions of the CUDA runtime that come back, or end the whole launch.
bool always_returns(std::string_view function) {
  constexpr std::array<std::string_view, 4> known{"vprintf", "__assertfail", "malloc", "free"};
  return std::ranges::find(known, function) != known.end();
}

} // namespace

bool may_end_the_thread(const ptx::Body& body, std::span<const ptx::InstId> calls) {
  const ptx::Module& module = *body.module;
  analysis::Worklist callees(module.functions.size());
  const auto follow = [&](const ptx::Inst& call) { // false: nobody knows what it calls
    if (call.callee == ptx::none) return false;
    callees.add(call.callee);
    return true;
  };
  const auto comes_back = [&](const ptx::Inst& inst) {
    const Group group = ptx::group(inst.op);
    if (group == Group::call) return follow(inst);
    return inst.op != ptx::Op::exit && group != Group::unknown;
  };
  for (const ptx::InstId call : calls)
    if (!follow(body.insts[call])) return true;
  while (const auto id = callees.next()) {
    const ptx::Function& f = module.functions[*id];
    if (f.is_declaration && always_returns(f.name)) continue;
    if (f.is_declaration || f.weak || f.has_opaque) return true; // another file may define it
    const ptx::Body callee = ptx::resolve(module, f);
    if (!callee.usable || !std::ranges::all_of(callee.insts, comes_back)) return true;
  }
  return false;
}

} // namespace ptxasw::passes
