// Emits the original body with its way out.
#include "rewrite/coarsen/original.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ranges>

namespace ptxasw::rewrite {

using ptx::Arg;
using ptx::Inst;
using ptx::InstId;
using ptx::StatementKind;

namespace {

constexpr InstId most_ahead = 32; // of the question: merged blocks run them in vain

bool only_computes(const Inst& inst) {
  const ptx::Group group = ptx::group(inst.op);
  return group == ptx::Group::pure ||
         (group == ptx::Group::load && inst.mods.space == ptx::Space::param);
}

bool is_exit(const Inst& inst) {
  return inst.guard != ptx::none &&
         ((inst.op == ptx::Op::bra && !inst.mods.uni) || ends_thread(inst));
}

} // namespace

std::span<const ptx::Statement> inside(const ptx::Body& body) {
  const auto statements = body.module->body_of(*body.function);
  return statements.subspan(1, statements.size() - 2);
}

bool ends_thread(const Inst& inst) {
  return inst.op == ptx::Op::ret || inst.op == ptx::Op::exit;
}

bool open_end(const ptx::Body& body) {
  for (const ptx::Statement& statement : inside(body) | std::views::reverse) {
    if (statement.kind == StatementKind::label) return true;
    if (statement.kind == StatementKind::instruction) break;
  }
  return body.insts.empty() || !ends_thread(body.insts.back()) ||
         body.insts.back().guard != ptx::none;
}

OriginalBody::OriginalBody(const Names& original, const CopyNames& names, Registers& registers,
                           const std::string& prefix, Text& text)
    : original_(original), names_(names), registers_(registers), aside_(prefix + "aside"),
      again_(prefix + "once"), done_(prefix + "done"), text_(text), body_(original.body()),
      module_(*body_.module), inside_(inside(body_)) {}

void OriginalBody::write(unsigned form, const WayOut* out) {
  write_body(form, out, {});
}

void OriginalBody::write_apart(unsigned form) {
  const std::string blocks = registers_.make("b32"), none = registers_.make("pred");
  text_.label(again_);
  write_body(form, nullptr, done_);
  text_.label(done_);
  text_.line("mov.u32 \t{}, %nctaid.x;", blocks);
  text_.line("setp.eq.u32 \t{}, {}, 0;", none, blocks);
  text_.line("@{} bra \t{};", none, again_);
  text_.line("ret;");
}

// Where a thread ends it goes to the label `leave`, if there is one.
void OriginalBody::write_body(unsigned form, const WayOut* out, std::string_view leave) {
  text_.line("// ptxasw: a block by itself");
  text_.line("{{");
  const std::size_t asks = out == nullptr ? inside_.size() : first_that_acts();
  const Inst* exit = nullptr;
  std::string number;
  std::uint32_t done = module_.body_of(*body_.function).front().range.end;
  InstId next = 0;
  for (std::size_t n = 0; n < inside_.size(); ++n) {
    const ptx::Statement& statement = inside_[n];
    text_.all += module_.slice({done, statement.range.begin});
    done = statement.range.end;
    const bool is_shared = statement.kind == StatementKind::variable &&
                           module_.variables[statement.index].space == ptx::Space::shared;
    const Inst* inst =
        statement.kind == StatementKind::instruction ? &body_.insts[next++] : nullptr;
    if (n == asks) {
      if (inst != nullptr && is_exit(*inst)) exit = inst;
      number = ask(*out, exit, form);
      if (exit != nullptr) continue;
    }
    if (inst != nullptr && ends_thread(*inst) && !leave.empty())
      text_.all += guard_of(*inst, form) + fmt::format("bra \t{};", leave);
    else if (inst != nullptr)
      text_.all += copied(*inst, form);
    else if (!is_shared) // declared in front of all forms
      text_.all += module_.slice(statement.range);
  }
  if (leave.empty() && open_end(body_)) text_.line("ret;");
  if (exit != nullptr) {
    text_.label(aside_);
    const std::string few = registers_.make("pred");
    text_.line("setp.lt.u32 \t{}, {}, {};", few, number, out->least);
    text_.line("@{} {}", few, module_.slice(behind_guard(body_, *exit)));
    text_.line("bra \t{};", out->to);
  }
  text_.line("}}");
}

std::string OriginalBody::guard_of(const Inst& inst, unsigned form) const {
  if (inst.guard == ptx::none) return {};
  return fmt::format("@{}{} ", inst.guard_negated ? "!" : "", original_.name(inst.guard, form));
}

std::size_t OriginalBody::first_that_acts() const {
  InstId next = 0;
  std::size_t last = 0;
  for (std::size_t n = 0; n < inside_.size(); ++n) {
    const StatementKind kind = inside_[n].kind;
    if (kind == StatementKind::instruction) {
      last = n;
      if (next == most_ahead || !only_computes(body_.insts[next])) return n;
      ++next;
    } else if (kind != StatementKind::variable && kind != StatementKind::location) {
      return n;
    }
  }
  return last;
}

std::vector<Extent> OriginalBody::extents_of(const std::array<unsigned, 3>& factors) const {
  const auto before = inside_.first(first_that_acts());
  return extents(body_,
                 static_cast<InstId>(
                     std::ranges::count(before, StatementKind::instruction, &ptx::Statement::kind)),
                 factors);
}

// In 32 bits, as the number of threads (guard.cpp): of products of 2^32 and more some are taken for
// small, and then launches run as before.
std::string OriginalBody::product_of(const std::vector<Extent>& extents, unsigned form) {
  std::string result;
  const auto line = [&](std::string_view format, auto&&... operands) {
    text_.all += fmt::format(fmt::runtime(format), operands...) + ";\n\t";
  };
  for (const Extent& extent : extents) {
    std::string factor = original_.name(extent.bound, form);
    if (extent.is_wide) {
      const std::string most = registers_.make("b64"), low = registers_.make("b32");
      line("min.u64 \t{}, {}, 4294967295", most, factor);
      line("cvt.u32.u64 \t{}, {}", low, most);
      factor = low;
    }
    if (extent.shift != 0) {
      const std::string high = registers_.make("b32");
      line("shr.u32 \t{}, {}, {}", high, factor, extent.shift);
      factor = high;
    }
    if (!result.empty()) {
      const std::string both = registers_.make("b32");
      line("mul.lo.u32 \t{}, {}, {}", both, result, factor);
      factor = both;
    }
    result = factor;
  }
  return result;
}

std::string OriginalBody::ask(const WayOut& out, const Inst* exit, unsigned form) {
  std::string number = out.number.empty() ? product_of(out.extents, form) : out.number;
  if (exit == nullptr) {
    const std::string many = registers_.make("pred");
    text_.all += fmt::format("setp.ge.u32 \t{0}, {1}, {2};\n\t@{0} bra \t{3};\n\t", many, number,
                             out.least, out.to);
    return number;
  }
  std::string leaves = original_.name(exit->guard, form);
  const std::string either = registers_.make("pred");
  if (exit->guard_negated) {
    text_.all += fmt::format("not.pred \t{}, {};\n\t", either, leaves);
    leaves = either;
  }
  text_.all += fmt::format("setp.ge.or.u32 \t{}, {}, {}, {};", either, number, out.least, leaves);
  text_.line("@{} bra \t{};", either, aside_);
  return number;
}

std::string OriginalBody::copied(const Inst& inst, unsigned form) const {
  return original_.copied(module_.statements[inst.statement].range,
                          [&](const ptx::Mention& m) -> std::string {
                            if (m.arg.kind == Arg::Kind::reg) return original_.name(m.arg.id, form);
                            if (m.arg.kind == Arg::Kind::symbol)
                              return names_.of_symbol(m.arg.id, 0);
                            return std::string(module_.slice(m.where));
                          });
}

} // namespace ptxasw::rewrite
