// A body is resolved anew for each call: there are few.
#include "passes/coarsen/find/calls.hpp"

#include "passes/shared/block_rules.hpp"
#include "passes/shared/waiting.hpp"

#include <algorithm>
#include <vector>

namespace ptxasw::passes {

using ptx::Group;
using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using ptx::Special;
using ptx::StatementKind;

namespace {

bool tells_the_block(const ptx::Body& body) {
  return std::ranges::any_of(body.args, [](const ptx::Arg& arg) {
    return arg.kind == ptx::Arg::Kind::special &&
           (ptx::is_along_axis(arg.special, Special::ctaid_x) ||
            ptx::is_along_axis(arg.special, Special::nctaid_x));
  });
}

bool is_of_a_leaf(const ptx::Body& body, const Inst& inst) {
  if (ptx::group(inst.op) == Group::exit && inst.op != Op::ret) return false;
  if (ptx::group(inst.op) == Group::load && !inst.mods.nc && is_done_anew(inst)) return false;
  return why_threads_synchronize(body, inst).empty();
}

} // namespace

Why why_not_called(const ptx::Body& body, const Inst& call) {
  if (call.callee == ptx::none || call.opaque)
    return at_line(body, call, Reason::call, "a call of what is not known");
  const ptx::Function& f = body.module->functions[call.callee];
  if (f.is_declaration || f.external || f.weak || f.has_opaque)
    return at_line(body, call, Reason::call, "a call of what another file may define");
  const ptx::Body callee = ptx::resolve(*body.module, f);
  if (!callee.usable) return at_line(body, call, Reason::call, "a call of what cannot be read");
  if (tells_the_block(callee))
    return at_line(body, call, Reason::call, "what it calls reads the index of its block");
  for (const Inst& inst : callee.insts) {
    if (!is_of_a_leaf(callee, inst))
      return at_line(body, call, Reason::call, "what it calls is no function of its thread alone");
  }
  return {};
}

std::optional<Region> call_sequence(const ptx::Body& body, InstId call) {
  const auto statements = body.module->body_of(*body.function);
  struct Open {
    std::uint32_t statement;
    InstId first;
  };
  std::vector<Open> open;
  InstId next = 0;
  for (std::uint32_t n = 0; n < statements.size(); ++n) {
    const StatementKind kind = statements[n].kind;
    if (kind == StatementKind::scope_open) open.push_back({n, next});
    if (kind == StatementKind::instruction) ++next;
    if (kind != StatementKind::scope_close || open.empty()) continue;
    const Open scope = open.back();
    open.pop_back();
    if (call < scope.first || call >= next) continue;
    // The innermost one. It is not the body, and nobody leaves or enters it elsewhere.
    if (open.empty()) return std::nullopt;
    for (std::uint32_t i = scope.statement + 1; i < n; ++i) {
      const StatementKind inner = statements[i].kind;
      if (inner != StatementKind::instruction && inner != StatementKind::variable &&
          inner != StatementKind::location)
        return std::nullopt;
    }
    for (InstId i = scope.first; i < next; ++i) {
      const Group group = ptx::group(body.insts[i].op);
      if (group == Group::branch || group == Group::exit) return std::nullopt;
    }
    return Region{.first = scope.first, .end = next, .opens = scope.statement, .closes = n};
  }
  return std::nullopt;
}

} // namespace ptxasw::passes
