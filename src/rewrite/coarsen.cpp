// See coarsen.hpp for the shape of the result.
#include "rewrite/coarsen.hpp"

#include "reuse/block_rules.hpp"
#include "rewrite/coarsen_names.hpp"
#include "rewrite/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <utility>

namespace ptxasw::rewrite {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::OperandKind;
using ptx::RegId;
using ptx::StatementKind;
using reuse::BlockLoad;
using reuse::CopyLoad;

namespace {

constexpr std::string_view axis_names = "xyz";

bool ends_thread(const Inst& inst) {
  return inst.op == ptx::Op::ret || inst.op == ptx::Op::exit;
}

class Coarsener {
public:
  Coarsener(const emulator::Kernel& kernel, const reuse::BlockPlan& plan,
            const CoarsenOptions& options, CoarsenReport& report)
      : k_(kernel), body_(kernel.body), module_(*kernel.body.module), plan_(plan),
        options_(options), report_(report), names_(body_, plan), registers_(module_),
        prefix_(label_prefix(module_)) {
    const auto statements = module_.body_of(*body_.function);
    inside_ = statements.subspan(1, statements.size() - 2);
    for (std::size_t n = 0; n < plan.loads.size(); ++n)
      load_of_[k_.trace.events[plan.loads[n].event].inst] = n;
    find_kept_values();
  }

  std::vector<ptx::Edit> run() {
    if (!plan_.refused.empty()) return {};
    text_.clear();
    prologue();
    check_bound();
    lockstep();
    sequential();
    const auto statements = module_.body_of(*body_.function);
    return {{{statements.front().range.end, statements.back().range.begin},
             fmt::format("\n{}{}", registers_.declarations(), text_)}};
  }

private:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += "\n\t";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void label(std::string_view name) { text_ += fmt::format("\n{}{}:", prefix_, name); }
  [[nodiscard]] std::string target(std::string_view name) const {
    return fmt::format("{}{}", prefix_, name);
  }

  // --- Prologue --------------------------------------------------------------------------------

  struct AxisCode {
    std::string first;                 // register: index of copy 0 along the axis
    std::string end;                   // register: end of the group
    std::string current;               // register of the sequential form
    std::vector<std::string> position; // by offset along the axis
    std::string special;               // "%ctaid.y": what the copies see as `position`
  };

  void prologue() {
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (plan_.axes[axis].factor > 1) enter_axis(axis);
    }
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (plan_.axes[axis].factor > 1) check_axis(axis);
    }
  }

  std::string special_in_register(std::string_view name, unsigned axis) {
    const std::string reg = registers_.make("b32");
    line("mov.u32 \t{}, {}.{};", reg, name, axis_names[axis]);
    return reg;
  }

  // Blocks that are not the first of their group have nothing to do.
  void enter_axis(unsigned axis) {
    AxisCode& a = axes_[axis];
    const unsigned factor = plan_.axes[axis].factor;
    const std::string block = special_in_register("%ctaid", axis);
    if (options_.host) {
      a.first = registers_.make("b32");
      line("mul.lo.u32 \t{}, {}, {};", a.first, block, factor);
      return;
    }
    a.first = block;
    const std::string rest = registers_.make("b32"), other = registers_.make("pred");
    if ((factor & (factor - 1)) == 0) {
      line("and.b32 \t{}, {}, {};", rest, block, factor - 1);
    } else {
      line("rem.u32 \t{}, {}, {};", rest, block, factor);
    }
    line("setp.ne.u32 \t{}, {}, 0;", other, rest);
    line("@{} ret;", other);
  }

  void check_axis(unsigned axis) {
    AxisCode& a = axes_[axis];
    const unsigned factor = plan_.axes[axis].factor;
    const std::string count = special_in_register("%nctaid", axis);
    a.end = registers_.make("b32");
    line("add.u32 \t{}, {}, {};", a.end, a.first, factor);
    if (!options_.host) {
      const std::string over = registers_.make("pred");
      line("setp.gt.u32 \t{}, {}, {};", over, a.end, count);
      line("@{} bra \t{};", over, target("sequential"));
    }
    const bool rows = plan_.axes[axis].rows;
    a.special = fmt::format("{}.{}", rows ? "%tid" : "%ctaid", axis_names[axis]);
    a.position.push_back(rows ? special_in_register("%tid", axis) : a.first);
    if (rows) line("mul.lo.u32 \t{0}, {0}, {1};", a.position[0], factor);
    for (unsigned c = 1; c < factor; ++c) {
      a.position.push_back(registers_.make("b32"));
      line("add.u32 \t{}, {}, {};", a.position.back(), a.position[0], c);
    }
  }

  // The check of block_bound.hpp: a sum in f32 that rounds up, so that it is never too small.
  void check_bound() {
    if (plan_.bound.empty()) return;
    const std::string sum = registers_.make("f32"), over = registers_.make("pred");
    std::map<sym::Term, std::string> leaves;
    line("mov.f32 \t{}, 0f00000000;", sum);
    for (const auto& [factors, coefficient] : plan_.bound.products) {
      std::string product;
      for (const sym::Term factor : factors) {
        std::string& leaf = leaves[factor];
        if (leaf.empty()) leaf = leaf_as_float(factor);
        if (product.empty()) {
          product = leaf;
          continue;
        }
        const std::string next = registers_.make("f32");
        line("mul.rp.f32 \t{}, {}, {};", next, product, leaf);
        product = next;
      }
      if (product.empty()) {
        line("add.rp.f32 \t{0}, {0}, {1};", sum, float_above(coefficient));
      } else {
        line("fma.rp.f32 \t{0}, {1}, {2}, {0};", sum, product, float_above(coefficient));
      }
    }
    line("setp.geu.f32 \t{}, {}, 0f4F000000;", over, sum); // 2^31
    line("@{} bra \t{};", over, target("sequential"));
  }

  static std::string float_above(std::uint64_t number) {
    auto value = static_cast<float>(number);
    constexpr float top = 9223372036854775808.0F;
    if (value < top && static_cast<std::uint64_t>(value) < number)
      value = std::nextafter(value, std::numeric_limits<float>::infinity());
    return fmt::format("0f{:08X}", std::bit_cast<std::uint32_t>(value));
  }

  std::string leaf_as_float(sym::Term leaf) {
    const sym::Atom& atom = k_.context->atom_info(leaf);
    const std::string value = registers_.make(fmt::format("b{}", atom.width)),
                      number = registers_.make("f32");
    read_leaf(leaf, atom, value);
    line("cvt.rp.f32.u{} \t{}, {};", atom.width, number, value);
    return number;
  }

  void read_leaf(sym::Term leaf, const sym::Atom& atom, const std::string& into) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      const AxisCode& a = axes_[axis];
      if (leaf == plan_.rows[axis] && leaf.valid()) {
        const std::string rows = special_in_register("%ntid", axis);
        return line("mad.lo.u32 \t{}, {}, {}, {};", into, a.first, rows, a.position[0]);
      }
      if (!a.special.empty() && atom.name == a.special)
        return line("mov.u32 \t{}, {};", into, a.position[0]);
    }
    if (atom.kind == static_cast<std::uint32_t>(emulator::AtomKind::special))
      return line("mov.u32 \t{}, {};", into, atom.name);
    for (const ptx::Symbol& s : body_.symbols) {
      if (s.kind == ptx::Symbol::Kind::parameter && s.offset <= atom.tag &&
          atom.tag < s.offset + s.size) {
        return line("ld.param.u{} \t{}, [{}+{}];", atom.width, into, s.name, atom.tag - s.offset);
      }
    }
  }

  // --- Lockstep --------------------------------------------------------------------------------

  void lockstep() {
    line("{{");
    text_ += names_.declarations();
    std::uint32_t done = module_.body_of(*body_.function).front().range.end;
    InstId next = 0;
    bool open_end = true;
    for (const ptx::Statement& statement : inside_) {
      text_ += module_.slice({done, statement.range.begin});
      done = statement.range.end;
      if (statement.kind == StatementKind::instruction) {
        const Inst& inst = body_.insts[next];
        instruction(next++);
        open_end = !(ends_thread(inst) && inst.guard == ptx::none);
      } else {
        open_end |= statement.kind == StatementKind::label;
        text_ += module_.slice(statement.range);
      }
    }
    if (open_end) line("ret;");
    line("}}");
  }

  void instruction(InstId id) {
    const Inst& inst = body_.insts[id];
    ++report_.instructions;
    const auto load = load_of_.find(id);
    if (load != load_of_.end()) return emit_load(load->second);
    if (reuse::needs_agreement(k_, plan_.variance, inst)) return agree(inst);
    const bool differs = plan_.variance.differs(body_, inst);
    if (!differs) ++report_.shared;
    const unsigned count = differs ? plan_.count() : 1;
    for (unsigned copy = 0; copy < count; ++copy)
      separate(copy, in_copy(inst, copy));
    report_.emitted += count;
  }

  void separate(unsigned copy, std::string_view code) {
    if (copy > 0) text_ += "\n\t";
    text_ += code;
  }

  // The statement as copy `copy` executes it.
  [[nodiscard]] std::string in_copy(const Inst& inst, unsigned copy) const {
    return spliced(inst, [&](std::string_view name) -> std::string {
      if (const RegId reg = register_named(inst, name); reg != ptx::none)
        return names_.of(reg, copy);
      for (unsigned axis = 0; axis < 3; ++axis) {
        const AxisCode& a = axes_[axis];
        if (name == a.special) return a.position[plan_.copies[copy][axis]];
      }
      return std::string(name);
    });
  }

  [[nodiscard]] RegId register_named(const Inst& inst, std::string_view name) const {
    RegId found = ptx::none;
    const auto look = [&](RegId reg) {
      if (body_.registers[reg].name == name) found = reg;
    };
    analysis::for_each_use(body_, inst, look);
    analysis::for_each_definition(body_, inst, look);
    return found;
  }

  // The statement with the names of its operands replaced.
  template <class Rename>
  [[nodiscard]] std::string spliced(const Inst& inst, const Rename& rename) const {
    const ptx::Statement& statement = module_.statements[inst.statement];
    const ptx::Instruction& written = module_.instructions[statement.index];
    std::vector<std::string_view> leaves;
    if (!written.guard.predicate.empty()) leaves.push_back(written.guard.predicate);
    for (const ptx::Operand& operand : module_.operands_of(written))
      collect(operand, leaves);
    std::ranges::sort(leaves, {}, [](std::string_view s) { return s.data(); });
    std::string result;
    const char* done = module_.text->data() + statement.range.begin;
    for (const std::string_view leaf : leaves) {
      result.append(done, leaf.data());
      result += rename(leaf);
      done = leaf.data() + leaf.size();
    }
    result.append(done, module_.text->data() + statement.range.end);
    return result;
  }

  void collect(const ptx::Operand& operand, std::vector<std::string_view>& leaves) const {
    if (operand.kind == OperandKind::name) leaves.push_back(operand.text);
    for (const ptx::Operand& child : module_.children(operand))
      collect(child, leaves);
  }

  // --- Loads -----------------------------------------------------------------------------------

  // Sources whose register is written again before the value is needed.
  void find_kept_values() {
    for (const BlockLoad& load : plan_.loads) {
      for (const CopyLoad& copy : load.copies) {
        if (!copy.from || !copy.needs_copy) continue;
        auto& kept = kept_[{copy.from->load, copy.from->copy}];
        if (!kept.empty()) continue;
        for (const Arg& dst : body_.dst(inst_of(plan_.loads[copy.from->load])))
          kept.push_back(registers_.make(fmt::format("b{}", width(dst))));
      }
    }
  }

  [[nodiscard]] const Inst& inst_of(const BlockLoad& load) const {
    return body_.insts[k_.trace.events[load.event].inst];
  }
  [[nodiscard]] unsigned width(const Arg& reg) const {
    return ptx::bit_width(body_.registers[reg.id].type);
  }

  void emit_load(std::size_t index) {
    const BlockLoad& load = plan_.loads[index];
    const Inst& inst = inst_of(load);
    report_.loads += plan_.count();
    if (load.copies.size() == 1) ++report_.shared;
    std::string_view separator;
    const auto put = [&](std::string_view code) {
      text_ += separator;
      text_ += code;
      separator = "\n\t";
    };
    for (unsigned copy = 0; copy < load.copies.size(); ++copy) {
      if (const auto& from = load.copies[copy].from) {
        ++report_.loads_moved;
        put_moves(inst, copy, *from, load.copies[copy].needs_copy, put);
      } else {
        ++report_.loads_left;
        ++report_.emitted;
        put(in_copy(inst, copy));
      }
      const auto kept = kept_.find({index, copy});
      if (kept == kept_.end()) continue;
      const auto dst = body_.dst(inst);
      for (std::size_t n = 0; n < dst.size(); ++n)
        put(fmt::format("mov.b{} \t{}, {};", width(dst[n]), kept->second[n],
                        names_.of(dst[n].id, copy)));
    }
  }

  void put_moves(const Inst& inst, unsigned copy, const reuse::Source& from, bool needs_copy,
                 const auto& put) {
    const auto dst = body_.dst(inst), src = body_.dst(inst_of(plan_.loads[from.load]));
    std::string guard;
    if (inst.guard != ptx::none) {
      guard = fmt::format("@{}{} ", inst.guard_negated ? "!" : "", names_.of(inst.guard, copy));
    }
    for (std::size_t n = 0; n < dst.size(); ++n) {
      const std::string to = names_.of(dst[n].id, copy);
      const std::string value =
          needs_copy ? kept_.at({from.load, from.copy})[n] : names_.of(src[n].id, from.copy);
      if (to != value) put(fmt::format("{}mov.b{} \t{}, {};", guard, width(dst[n]), to, value));
    }
  }

  // --- Branches --------------------------------------------------------------------------------

  // Fall through if every copy does, leave if every copy does, else start over in the sequential
  // form. Nothing has been written yet.
  void agree(const Inst& inst) {
    const bool negated = inst.guard_negated; // then the branch is taken where the guard is false
    const std::string any = registers_.make("pred"), all = registers_.make("pred");
    const std::string first = names_.of(inst.guard, 0),
                      stay = target(fmt::format("stay_{}", report_.agreements++));
    const auto combine = [&](std::string_view op, const std::string& into) {
      std::string sum = first;
      for (unsigned copy = 1; copy < plan_.count(); ++copy) {
        separate(copy > 1 || into == all,
                 fmt::format("{}.pred \t{}, {}, {};", op, into, sum, names_.of(inst.guard, copy)));
        sum = into;
      }
    };
    combine(negated ? "and" : "or", any);
    line("@{}{} bra \t{};", negated ? "" : "!", any, stay);
    combine(negated ? "or" : "and", all);
    line("@{}{} {}", negated ? "!" : "", all, without_guard(inst));
    line("bra \t{};", target("sequential"));
    text_ += fmt::format("\n{}:", stay);
    report_.emitted += 2 * plan_.count();
  }

  [[nodiscard]] std::string_view without_guard(const Inst& inst) const {
    const ptx::Statement& statement = module_.statements[inst.statement];
    const std::uint32_t mnemonic = module_.instructions[statement.index].mnemonic.begin;
    return module_.slice({mnemonic, statement.range.end});
  }

  // --- Sequential ------------------------------------------------------------------------------

  void sequential() {
    label("sequential");
    std::vector<unsigned> axes;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (plan_.axes[axis].factor > 1) axes.push_back(axis);
    }
    for (const unsigned axis : axes)
      limit_axis(axis);
    for (const unsigned axis : axes | std::views::reverse) {
      line("mov.u32 \t{}, {};", axes_[axis].current, axes_[axis].position[0]);
      label(fmt::format("again_{}", axis_names[axis]));
    }
    line("{{");
    original_body();
    line("}}");
    label("next");
    for (const unsigned axis : axes) {
      const AxisCode& a = axes_[axis];
      const std::string more = registers_.make("pred");
      line("add.u32 \t{0}, {0}, 1;", a.current);
      line("setp.lt.u32 \t{}, {}, {};", more, a.current, a.end);
      line("@{} bra \t{};", more, target(fmt::format("again_{}", axis_names[axis])));
    }
    line("ret;\n");
  }

  // `end`: where the copies of this group end. Beyond the grid there are none.
  void limit_axis(unsigned axis) {
    AxisCode& a = axes_[axis];
    a.current = registers_.make("b32");
    if (!options_.host) {
      const std::string count = special_in_register("%nctaid", axis);
      line("min.u32 \t{0}, {0}, {1};", a.end, count);
    }
    if (!plan_.axes[axis].rows) return;
    // Of the rows of the group's blocks this thread does those from position 0.
    const std::string rows = special_in_register("%ntid", axis), last = registers_.make("b32"),
                      none = registers_.make("pred");
    line("sub.u32 \t{0}, {0}, {1};", a.end, a.first);
    line("mul.lo.u32 \t{0}, {0}, {1};", a.end, rows);
    line("add.u32 \t{}, {}, {};", last, a.position[0], plan_.axes[axis].factor);
    line("min.u32 \t{0}, {0}, {1};", a.end, last);
    line("setp.ge.u32 \t{}, {}, {};", none, a.position[0], a.end);
    line("@{} ret;", none);
  }

  void original_body() {
    std::uint32_t done = module_.body_of(*body_.function).front().range.end;
    InstId next = 0;
    for (const ptx::Statement& statement : inside_) {
      text_ += module_.slice({done, statement.range.begin});
      done = statement.range.end;
      if (statement.kind != StatementKind::instruction) {
        text_ += module_.slice(statement.range);
        continue;
      }
      const Inst& inst = body_.insts[next++];
      if (ends_thread(inst)) {
        const std::string guard =
            inst.guard == ptx::none
                ? ""
                : fmt::format("@{}{} ", inst.guard_negated ? "!" : "", names_.of(inst.guard, 0));
        text_ += fmt::format("{}bra \t{};", guard, target("next"));
      } else {
        text_ += spliced(inst, [&](std::string_view name) {
          for (const AxisCode& a : axes_) {
            if (!a.special.empty() && name == a.special) return a.current;
          }
          return std::string(name);
        });
      }
    }
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  const reuse::BlockPlan& plan_;
  CoarsenOptions options_;
  CoarsenReport& report_;
  CopyNames names_;
  Registers registers_;
  std::string prefix_;
  std::span<const ptx::Statement> inside_; // the body without its braces
  std::map<InstId, std::size_t> load_of_;
  std::map<std::pair<std::size_t, unsigned>, std::vector<std::string>> kept_;
  std::array<AxisCode, 3> axes_;
  std::string text_;
};

} // namespace

std::vector<ptx::Edit> coarsen(const emulator::Kernel& kernel, const reuse::BlockPlan& plan,
                               const CoarsenOptions& options, CoarsenReport& report) {
  report = {.copies = plan.count()};
  if (!plan.refused.empty()) return {};
  return Coarsener(kernel, plan, options, report).run();
}

} // namespace ptxasw::rewrite
