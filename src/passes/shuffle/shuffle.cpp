// Emits guarded shuffles and moves.
#include "passes/shuffle/shuffle.hpp"

#include "passes/shared/conditions.hpp"
#include "passes/shared/meant.hpp"
#include "passes/shared/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>

namespace ptxasw::passes {

using passes::Cover;
using passes::Load;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::RegId;

namespace {

class ShuffleWriter {
public:
  ShuffleWriter(const emulator::Kernel& kernel, passes::LanePlan& plan, Emit emit)
      : k_(kernel), body_(kernel.body), plan_(plan), emit_(emit), registers_(*kernel.body.module),
        names_(kernel.body), conditions_(kernel, names_, registers_) {}

  std::vector<ptx::Edit> run() {
    for (Load& load : plan_.loads) {
      if (load.cover) drop_unnameable(load);
    }
    for (const Load& load : plan_.loads) {
      if (load.cover) edits_.push_back({range_of(inst_of(load.event)), rewrite(load)});
    }
    if (edits_.empty()) return {};
    std::ranges::move(conditions_.take_edits(), std::back_inserter(edits_));
    const std::uint32_t top = names_.body_start();
    edits_.push_back({{top, top}, "\n" + registers_.declarations()});
    return std::move(edits_);
  }

private:
  [[nodiscard]] InstId inst_of(std::size_t event) const { return k_.trace.events[event].inst; }
  [[nodiscard]] ptx::Range range_of(InstId inst) const {
    return body_.module->statements[body_.insts[inst].statement].range;
  }
  [[nodiscard]] unsigned width(const Arg& reg) const {
    return ptx::bit_width(body_.registers[reg.id].type);
  }
  [[nodiscard]] std::string name(const Arg& reg) const { return names_.name(reg.id); }
  std::string temporary(unsigned bits) { return registers_.make(fmt::format("b{}", bits)); }

  // The registers that have what the source has loaded.
  [[nodiscard]] std::span<const Arg> values_of(const Cover& cover) const {
    return body_.dst(body_.insts[inst_of(cover.source)]);
  }

  // Source and check registers are named at the covered load.
  void drop_unnameable(Load& load) {
    const InstId here = inst_of(load.event);
    const auto known = [&](RegId reg) { return names_.known_at(reg, here); };
    for (const Arg& reg : values_of(*load.cover))
      load.cover->needs_copy |= !known(reg.id);
    for (const passes::NoWrap& check : load.cover->checks) {
      if (known(check.index) && (check.unit == ptx::none || known(check.unit))) continue;
      load.cover.reset();
      load.kept = {Reason::other_scope, "its index register belongs to another scope { }"};
      return;
    }
  }

  // The registers that hold the source's values at the covered load.
  std::vector<std::string> source_names(const Cover& cover) {
    const InstId source = inst_of(cover.source);
    const auto values = values_of(cover);
    if (!cover.needs_copy) {
      std::vector<std::string> names;
      for (const Arg& reg : values)
        names.push_back(name(reg));
      return names;
    }
    const auto [place, missing] = copies_.try_emplace(source);
    if (missing) {
      std::string text;
      for (const Arg& reg : values) {
        place->second.push_back(temporary(width(reg)));
        text += fmt::format("\n\tmov.b{} \t{}, {};", width(reg), place->second.back(), name(reg));
      }
      const std::uint32_t end = range_of(source).end;
      edits_.push_back({{end, end}, text});
    }
    return place->second;
  }

  // --- One covered load ------------------------------------------------------------------------

  std::string rewrite(const Load& load) {
    const Cover& cover = *load.cover;
    const InstId id = inst_of(load.event);
    const Inst& inst = body_.insts[id];
    const std::uint32_t source_line = ptx::line_of(body_, body_.insts[inst_of(cover.source)]);
    Text code;
    if (cover.delta == 0) {
      code.line("// ptxasw: the value of line {}", source_line);
    } else {
      code.line("// ptxasw: lane {:+} of line {}", cover.delta, source_line);
    }
    const std::vector<std::string> sources = source_names(cover);
    const Condition condition = conditions_.require(cover, id, code);

    const bool detour = emit_ == Emit::check || needs_detour(inst, sources);
    const auto dst = body_.dst(inst);
    std::vector<std::string> results;
    for (std::size_t n = 0; n < dst.size(); ++n) {
      results.push_back(detour ? temporary(width(dst[n])) : name(dst[n]));
      obtain(results[n], sources[n], width(dst[n]), cover.delta, condition.mask, code);
    }
    if (emit_ == Emit::check) {
      compare(inst, results, condition.ok, code);
    } else {
      finish(inst, detour ? results : std::vector<std::string>{}, condition.ok, code);
    }
    return code.in_place();
  }

  // A destination that the original load still needs (its address), that a guard must leave alone,
  // or that holds another component of the source is written last.
  [[nodiscard]] bool needs_detour(const Inst& inst, const std::vector<std::string>& sources) const {
    if (inst.guard != ptx::none) return true;
    const auto dst = body_.dst(inst);
    return std::ranges::any_of(dst, [&](const Arg& reg) {
      const bool is_address = std::ranges::any_of(body_.addr(inst), [&](const ptx::Address& a) {
        return a.base.kind == Arg::Kind::reg && a.base.id == reg.id;
      });
      return is_address || (dst.size() > 1 && std::ranges::count(sources, name(reg)) != 0);
    });
  }

  // The corner case, and the detour's last step.
  void finish(const Inst& inst, const std::vector<std::string>& results, const std::string& ok,
              Text& code) {
    const auto [take, corner] = guards(inst, ok, code);
    const bool has_corner = !ok.empty();
    if (has_corner && emit_ == Emit::uniform_branch && inst.guard == ptx::none) {
      // Warps without a corner case skip the load; the branch may split the others.
      const std::string label = fmt::format("$ptxasw_corner_{}", labels_++);
      code.line("@{} bra \t{};", ok, label);
      code.line("{}", names_.text(behind_guard(body_, inst)));
      code.line("{}:", label);
      conditions_.forget();
    } else if (has_corner) {
      code.line("{}{}", corner, names_.text(behind_guard(body_, inst)));
    }
    for (std::size_t n = 0; n < results.size(); ++n) {
      const Arg& reg = body_.dst(inst)[n];
      code.line("{}mov.b{} \t{}, {};", take, width(reg), name(reg), results[n]);
    }
  }

  // --check: the original load stays; a difference stops the kernel.
  void compare(const Inst& inst, const std::vector<std::string>& results, const std::string& ok,
               Text& code) {
    std::string take = guards(inst, ok, code).first;
    if (!take.empty()) take = take.substr(1, take.size() - 2); // "@!p " -> "!p"
    code.line("{}", names_.text(body_.module->statements[inst.statement].range));
    for (std::size_t n = 0; n < results.size(); ++n) {
      const Arg& reg = body_.dst(inst)[n];
      const std::string differs = registers_.make("pred");
      code.line("setp.ne{}.b{} \t{}, {}, {}{};", take.empty() ? "" : ".and", width(reg), differs,
                name(reg), results[n], take.empty() ? "" : ", " + take);
      code.line("@{} trap;", differs);
    }
  }

  // Predicate prefixes under which the shuffled value is taken and the load is done.
  std::pair<std::string, std::string> guards(const Inst& inst, const std::string& ok, Text& code) {
    if (inst.guard == ptx::none) {
      if (ok.empty()) return {};
      return {fmt::format("@{} ", ok), fmt::format("@!{} ", ok)};
    }
    const std::string guard = names_.name(inst.guard);
    if (ok.empty()) return {fmt::format("@{}{} ", inst.guard_negated ? "!" : "", guard), ""};
    std::string holds = guard;
    if (inst.guard_negated) {
      holds = registers_.make("pred");
      code.line("not.pred \t{}, {};", holds, guard);
    }
    const std::string take = registers_.make("pred"), corner = registers_.make("pred");
    code.line("and.pred \t{}, {}, {};", take, holds, ok);
    code.line("xor.pred \t{}, {}, {};", corner, holds, take);
    return {fmt::format("@{} ", take), fmt::format("@{} ", corner)};
  }

  // --- Moving values ---------------------------------------------------------------------------

  void obtain(const std::string& to, const std::string& from, unsigned bits, int delta,
              const std::string& mask, Text& code) {
    if (delta == 0) {
      code.line("mov.b{} \t{}, {};", bits, to, from);
    } else {
      shuffle_value(to, from, bits, delta, mask, code);
    }
  }

  static void shuffle_word(const std::string& to, const std::string& from, int delta,
                           const std::string& mask, Text& code) {
    code.line("shfl.sync.{}.b32 \t{}, {}, {}, {}, {};", delta > 0 ? "down" : "up", to, from,
              std::abs(delta), delta > 0 ? 31 : 0, mask);
  }

  // shfl moves 32 bits: wider values go in halves, narrower ones in a pair.
  void shuffle_value(const std::string& to, const std::string& from, unsigned bits, int delta,
                     const std::string& mask, Text& code) {
    if (bits == 32) return shuffle_word(to, from, delta, mask, code);
    const std::string low = temporary(32), moved_low = temporary(32);
    if (bits == 16) {
      code.line("mov.b32 \t{}, {{{}, {}}};", low, from, from);
      shuffle_word(moved_low, low, delta, mask, code);
      code.line("mov.b32 \t{{{}, {}}}, {};", to, temporary(16), moved_low);
      return;
    }
    const std::string high = temporary(32), moved_high = temporary(32);
    code.line("mov.b64 \t{{{}, {}}}, {};", low, high, from);
    shuffle_word(moved_low, low, delta, mask, code);
    shuffle_word(moved_high, high, delta, mask, code);
    code.line("mov.b64 \t{}, {{{}, {}}};", to, moved_low, moved_high);
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  passes::LanePlan& plan_;
  Emit emit_;
  Registers registers_;
  Names names_;
  Conditions conditions_;
  std::vector<ptx::Edit> edits_;
  std::map<InstId, std::vector<std::string>> copies_;
  unsigned labels_ = 0;
};

} // namespace

std::vector<ptx::Edit> shuffle(const emulator::Kernel& kernel, passes::LanePlan& plan, Emit emit) {
  const auto is_covered = [](const passes::Load& load) { return load.cover.has_value(); };
  if (std::ranges::none_of(plan.loads, is_covered)) return {}; // no names are needed
  return ShuffleWriter(kernel, plan, emit).run();
}

} // namespace ptxasw::passes
