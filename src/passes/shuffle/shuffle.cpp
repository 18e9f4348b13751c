// Emits guarded shuffles and moves.
#include "passes/shuffle/shuffle.hpp"

#include "passes/shared/bindings.hpp"
#include "passes/shuffle/conditions.hpp"
#include "ptx/build.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Code;
using ptx::Inst;
using ptx::InstId;
using ptx::Predicate;
using ptx::Reg;
using ptx::RegId;
using namespace ptx::words;

namespace {

class ShuffleWriter {
public:
  ShuffleWriter(const emulator::Kernel& kernel, LanePlan& plan, Emit emit)
      : k_(kernel), body_(kernel.body), plan_(plan), emit_(emit), registers_(*kernel.body.module),
        names_(kernel.body), conditions_(kernel, names_, registers_) {}

  std::vector<ptx::Edit> run() {
    for (Load& load : plan_.loads) {
      if (load.cover) drop_unnameable(load);
    }
    for (const Load& load : plan_.loads) {
      if (load.cover) edits_.push_back({ptx::range_of(body_, inst_of(load.event)), rewrite(load)});
    }
    if (edits_.empty()) return {};
    std::ranges::move(conditions_.take_edits(), std::back_inserter(edits_));
    edits_.push_back(registers_.declared_at(names_.body_start()));
    return std::move(edits_);
  }

private:
  [[nodiscard]] InstId inst_of(std::size_t event) const { return k_.trace.events[event].inst; }
  [[nodiscard]] Reg own(const Arg& reg) const { return names_.reg(reg.id); }
  // For the value of another one.
  Reg fresh_for(const Reg& other) { return registers_.make(ptx::bits(ptx::bit_width(other.type))); }

  // The registers that have what the source has loaded.
  [[nodiscard]] std::span<const Arg> values_of(const ReuseSource& cover) const {
    return body_.dst(body_.insts[inst_of(cover.source)]);
  }

  // Source and check registers are named at the covered load.
  void drop_unnameable(Load& load) {
    const InstId here = inst_of(load.event);
    const auto known = [&](RegId reg) { return names_.known_at(reg, here); };
    for (const Arg& reg : values_of(*load.cover))
      load.cover->needs_copy |= !known(reg.id);
    for (const NoWrap& check : load.cover->checks) {
      if (known(check.index) && (check.unit == ptx::none || known(check.unit))) continue;
      load.cover.reset();
      load.kept = {Reason::other_scope, "its index register belongs to another scope { }"};
      return;
    }
  }

  // The registers that hold the source's values at the covered load.
  std::vector<Reg> sources_of(const ReuseSource& cover) {
    std::vector<Reg> values;
    for (const Arg& reg : values_of(cover))
      values.push_back(own(reg));
    if (!cover.needs_copy) return values;
    const InstId source = inst_of(cover.source);
    const auto [place, missing] = copies_.try_emplace(source);
    if (!missing) return place->second;
    Code code(registers_);
    for (Reg& value : values) {
      const Reg copy = fresh_for(value);
      code.move(copy, value);
      value = copy;
    }
    const std::uint32_t end = ptx::range_of(body_, source).end;
    edits_.push_back({{end, end}, code.behind()});
    return place->second = std::move(values);
  }

  // --- One covered load ------------------------------------------------------------------------

  std::string rewrite(const Load& load) {
    const ReuseSource& cover = *load.cover;
    const InstId id = inst_of(load.event);
    const Inst& inst = body_.insts[id];
    const std::uint32_t line = ptx::line_of(body_, body_.insts[inst_of(cover.source)]);
    Code code(registers_);
    code.comment(cover.delta != 0 ? fmt::format("ptxasw: lane {:+} of line {}", cover.delta, line)
                                  : fmt::format("ptxasw: the value of line {}", line));
    const std::vector<Reg> sources = sources_of(cover);
    const Condition condition = conditions_.require(cover, id, code);

    const bool detour = emit_ == Emit::check || needs_detour(inst, sources);
    std::vector<Reg> results;
    for (const Arg& reg : body_.dst(inst)) {
      const Reg& source = sources[results.size()];
      results.push_back(detour ? fresh_for(own(reg)) : own(reg));
      obtain(results.back(), source, cover.delta, condition.mask, code);
    }
    if (emit_ == Emit::check) {
      compare(inst, results, condition.ok, code);
    } else {
      finish(inst, detour ? results : std::vector<Reg>{}, condition.ok, code);
    }
    return code.in_place();
  }

  // A destination that the original load still needs (its address), that a guard must leave alone,
  // or that holds another component of the source is written last.
  [[nodiscard]] bool needs_detour(const Inst& inst, const std::vector<Reg>& sources) const {
    if (inst.guard != ptx::none) return true;
    const auto dst = body_.dst(inst);
    return std::ranges::any_of(dst, [&](const Arg& reg) {
      const bool is_address = std::ranges::any_of(body_.addr(inst), [&](const ptx::Address& a) {
        return a.base.kind == Arg::Kind::reg && a.base.id == reg.id;
      });
      return is_address || (dst.size() > 1 && std::ranges::count(sources, own(reg)) != 0);
    });
  }

  // The corner case, and the detour's last step.
  void finish(const Inst& inst, const std::vector<Reg>& results, const Reg& ok, Code& code) {
    const auto [take, corner] = guards(inst, ok, code);
    const std::string load = names_.text(behind_guard(body_, inst));
    if (!ok.empty()) code.when(corner).statement(load);
    for (std::size_t n = 0; n < results.size(); ++n)
      code.when(take).move(own(body_.dst(inst)[n]), results[n]);
  }

  // --check: the original load stays; a difference stops the kernel.
  void compare(const Inst& inst, const std::vector<Reg>& results, const Reg& ok, Code& code) {
    const Predicate take = guards(inst, ok, code).first;
    code.statement(names_.text(ptx::range_of(body_, inst)));
    for (std::size_t n = 0; n < results.size(); ++n) {
      const Reg loaded = own(body_.dst(inst)[n]);
      const Reg differs = code.setp(ne, results[n].type, loaded, results[n], and_, take);
      code.when(differs).trap();
    }
  }

  // Under which the shuffled value is taken and the load is done.
  std::pair<Predicate, Predicate> guards(const Inst& inst, const Reg& ok, Code& code) {
    const Predicate guard = names_.guard(inst);
    if (guard.empty()) return {ok, Predicate(ok, true)};
    if (ok.empty()) return {guard, {}};
    const Reg holds = guard.negated ? code.not_(pred, guard.reg) : guard.reg;
    const Reg take = code.and_(pred, holds, ok);
    return {take, code.xor_(pred, holds, take)};
  }

  // --- Moving values ---------------------------------------------------------------------------

  // shfl moves 32 bits: wider values go in halves, narrower ones in a pair.
  void obtain(const Reg& to, const Reg& from, int delta, const Reg& mask, Code& code) const {
    if (delta == 0) return code.move(to, from);
    const auto shuffle = [&](const ptx::Emitter& emitter, const Reg& word) {
      return emitter.shfl(delta > 0 ? ptx::Sub::down : ptx::Sub::up, word, std::abs(delta),
                          delta > 0 ? 31 : 0, mask);
    };
    const unsigned width = ptx::bit_width(to.type);
    if (width == 32) {
      shuffle(code.into(to), from);
    } else if (width == 16) {
      const Reg moved = shuffle(code, code.pack(b32, from, from));
      code.unpack(b32, to, code.make(b16), moved);
    } else {
      const Reg low = code.make(b32), high = code.make(b32);
      code.unpack(b64, low, high, from);
      const Reg moved_low = shuffle(code, low), moved_high = shuffle(code, high);
      code.into(to).pack(b64, moved_low, moved_high);
    }
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  LanePlan& plan_;
  Emit emit_;
  ptx::FreshRegisters registers_;
  Names names_;
  Conditions conditions_;
  std::vector<ptx::Edit> edits_;
  std::map<InstId, std::vector<Reg>> copies_;
};

} // namespace

std::vector<ptx::Edit> shuffle(const emulator::Kernel& kernel, LanePlan& plan, Emit emit) {
  const auto is_covered = [](const Load& load) { return load.cover.has_value(); };
  if (std::ranges::none_of(plan.loads, is_covered)) return {}; // no names are needed
  return ShuffleWriter(kernel, plan, emit).run();
}

} // namespace ptxasw::passes
