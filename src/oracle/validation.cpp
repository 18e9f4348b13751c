// What each line of the original became, against what each of its copies became.
#include "oracle/validation.hpp"

#include "passes/shared/contraction_latitude.hpp"
#include "passes/shared/sites.hpp"
#include "passes/shared/spread.hpp"
#include "passes/shared/value_numbers.hpp"
#include "ptx/written.hpp"
#include "sass/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <set>

namespace ptxasw::oracle {
namespace {

using ptx::Inst;
using ptx::InstId;
using ptx::Op;
using sass::LineOperation;
using sass::Operation;

using Kinds = std::set<std::string>;
using Lines = std::map<std::uint32_t, std::uint32_t>; // by line of one text, of the same or another

constexpr std::uint32_t unowned = 1U << 31; // and the line, which is nobody's copy

// What an instruction may become whatever surrounds it.
enum class Nature : std::uint8_t { other, integer, rounded, fused, approximate };

struct Form {
  std::string text; // "fma.rn.f32 #3f800000"
  Nature nature = Nature::other;
  bool free = false;    // the assembler may choose what it becomes
  bool chained = false; // an approximation of an approximation
};

Nature nature_of(const Inst& inst) {
  const bool real = ptx::is_float(inst.mods.type) || ptx::is_float(inst.mods.type2);
  if (passes::is_approximate(inst)) return Nature::approximate;
  if (inst.opaque) return Nature::other;
  if (!real) return Nature::integer; // what it expands to is exact
  switch (inst.op) {
  case Op::add:
  case Op::sub:
  case Op::mul: return Nature::rounded;
  case Op::fma: return Nature::fused;
  default: return Nature::other;
  }
}

Form form_of(const ptx::Body& body, const Inst& inst) {
  Form form{std::string(body.module->slice(ptx::syntax_of(body, inst).mnemonic)), nature_of(inst),
            passes::is_approximate(inst) || passes::is_unrounded(inst)};
  for (const ptx::Arg& arg : body.src(inst))
    if (arg.kind == ptx::Arg::Kind::imm) form.text += fmt::format(" #{:x}", arg.value);
  return form;
}

bool is_arithmetic(const Inst& inst) {
  return inst.op != Op::mov && inst.op != Op::ld && inst.op != Op::st &&
         (ptx::is_float(inst.mods.type) || ptx::is_float(inst.mods.type2));
}

std::uint32_t mapped(const Lines& lines, std::uint32_t line) {
  const auto found = lines.find(line);
  return found == lines.end() ? line : found->second;
}

// A kernel with its machine code.
struct Version {
  std::map<std::uint32_t, Form> forms;    // by line
  Lines twins;                            // by line: an earlier one of the same value
  Lines origins;                          // by line: the original's that stands for its value
  sass::OperationsByLine operations_done; // by line
  bool arithmetic = false;
  bool free = false;      // has functions, or products that may be scaled
  bool unrounded = false; // has sums or products that may be fused where others are near
  std::string unknown;    // why the machine code does not tell
};
using Versions = std::map<std::string, Version, std::less<>>;

// The kernels of a text in which no line has two instructions. `whose` gives the line of the
// original that stands for the value of an instruction.
template <class Whose>
Versions read(const ptx::Module& module, const std::vector<std::string>& kernels,
              Assembler& assembler, AssemblyRequest::Purpose purpose, const Whose& whose) {
  Versions versions;
  bool any = false;
  for (const ptx::Function& function : module.functions) {
    if (function.is_declaration || std::ranges::count(kernels, function.name) == 0) continue;
    auto& [name, version] = *versions.try_emplace(std::string(function.name)).first;
    const ptx::Body body = ptx::resolve(module, function);
    version.twins = passes::congruent_lines(body, passes::Reaching(body));
    const passes::ContractionLatitude latitude(body);
    for (InstId n = 0; n < body.insts.size(); ++n) {
      const Inst& inst = body.insts[n];
      const std::uint32_t line = passes::opcode_line(body, n);
      Form& form = version.forms.try_emplace(line, form_of(body, inst)).first->second;
      form.chained = form.nature == Nature::approximate && latitude.reads_approximation(inst);
      version.unrounded |= passes::is_unrounded(inst);
      const std::uint32_t number = ptx::statement_of(body, inst).index;
      version.origins.emplace(line, whose(name, version.twins, line, number));
      version.arithmetic |= is_arithmetic(inst);
      version.free |= passes::is_approximate(inst) || latitude.is_scalable(inst);
    }
    any |= version.arithmetic;
    version.unknown = "the assembler was of no help";
  }
  if (!any) return versions;
  const auto made = assembler.assemble(
      {.text = *module.text, .entries = kernels, .line_info = true, .purpose = purpose});
  if (!made) return versions;
  const auto codes = sass::read_code(made->cubin);
  for (auto& [name, read] : versions) {
    Version& version = read;
    const auto code = codes.find(name);
    version.unknown = code == codes.end() ? "there is no machine code" : code->second.unknown();
    if (version.unknown.empty())
      version.operations_done = sass::operations_by_line(
          code->second, [&](std::uint32_t line) { return mapped(version.origins, line); });
  }
  return versions;
}

class Comparison {
public:
  // `known`: whose copies the instructions are.
  Comparison(const Version& before, const Version& after, bool known)
      : after_(after), known_(known) {
    for (const auto& [line, done] : before.operations_done) {
      was_[mapped(before.origins, line)].add(done);
      allowed_[form(before, line).text].add(done);
    }
    for (const auto& [line, form] : after.forms) {
      Group& group = groups_[mapped(after.twins, line)];
      if (const auto done = after.operations_done.find(line); done != after.operations_done.end())
        group.now.add(done->second);
      const auto was = was_.find(after.origins.at(line));
      const auto alike = allowed_.find(form.text);
      if (known && was != was_.end()) group.was.add(was->second);
      if (!known && alike != allowed_.end()) group.was.add(alike->second);
    }
  }

  // Why the second may not stand for the first; empty if it may.
  [[nodiscard]] std::string run() const {
    for (const auto& [line, form] : after_.forms) {
      if (std::string why = of_line(line, form); !why.empty()) return why;
      if (std::string why = of_scale(line, form); !why.empty()) return why;
    }
    for (const auto& [line, done] : after_.operations_done)
      if (form(after_, line).nature == Nature::other)
        if (std::string why = of_form(form(after_, line), done); !why.empty()) return why;
    return {};
  }

private:
  struct Done {
    Kinds kinds, printed;
    void add(const std::vector<LineOperation>& all) {
      for (const LineOperation& one : all) {
        kinds.insert(one.kind);
        printed.insert(one.printed);
        list.push_back(one);
      }
    }
    void add(const Done& other) { add(other.list); }
    std::vector<LineOperation> list;
  };
  // Copies of one value.
  struct Group {
    Done was, now;
  };

  static Form form(const Version& version, std::uint32_t line) {
    const auto found = version.forms.find(line);
    return found == version.forms.end() ? Form{"no instruction", Nature::other} : found->second;
  }

  [[nodiscard]] std::string of_line(std::uint32_t line, const Form& form) const {
    if (form.nature == Nature::other || form.nature == Nature::integer) return {};
    const Group& group = groups_.at(mapped(after_.twins, line));
    if (form.free && known_ && after_.origins.at(line) >= unowned)
      return fmt::format("rewritten, there is an {} that is a copy of none", form.text);
    if (form.nature == Nature::approximate) return as_approximation(form, group);
    for (const LineOperation& one : group.now.list) {
      const bool fused = one.operation == Operation::fma && form.nature != Nature::fused;
      if ((!fused && one.operation != Operation::function) || is_known(form, one, group)) continue;
      return fmt::format("rewritten, {} becomes \"{}\", which it was not before", form.text,
                         one.kind);
    }
    return {};
  }

  [[nodiscard]] bool is_known(const Form& form, const LineOperation& one,
                              const Group& group) const {
    if (known_ && one.format != sass::Format::half) return group.was.printed.contains(one.printed);
    const auto found = allowed_.find(form.text);
    return found != allowed_.end() && found->second.kinds.contains(one.kind);
  }

  // Of two approximations in a chain ptxas may leave out both (the reciprocal of a reciprocal),
  // here and not there as it unrolls loops: there the operands have to be made by the same lines.
  [[nodiscard]] std::string as_approximation(const Form& form, const Group& group) const {
    for (const LineOperation& one : group.now.list) {
      if (!group.was.kinds.contains(one.kind))
        return fmt::format("rewritten, {} becomes \"{}\", which it was not before", form.text,
                           one.kind);
      if (form.chained && known_ && one.format != sass::Format::half &&
          !group.was.printed.contains(one.printed))
        return fmt::format("rewritten, {} becomes \"{}\" of other values than before", form.text,
                           one.kind);
    }
    for (const std::string& kind : group.was.kinds)
      if (!group.now.kinds.contains(kind))
        return fmt::format("rewritten, {} does not become \"{}\" any more", form.text, kind);
    return {};
  }

  // A product that is made one with a product by a power of two is rounded once. It has to be one
  // in each copy, of the same operands; where a line has products with and without a scale, as in a
  // loop that is unrolled, it is not known which trip has which.
  [[nodiscard]] std::string of_scale(std::uint32_t line, const Form& form) const {
    const Group& group = groups_.at(mapped(after_.twins, line));
    Kinds kinds; // of all its products
    const auto scaled = [&](const Done& done) {
      Kinds found;
      for (const LineOperation& one : done.list) {
        if (one.operation != Operation::mul || one.format != sass::Format::f32) continue;
        kinds.insert(one.kind);
        if (one.scaled) found.insert(known_ ? one.printed : one.kind);
      }
      return found;
    };
    const Kinds was = scaled(group.was), now = scaled(group.now);
    if (was.empty() && now.empty()) return {};
    if (kinds.size() == 1 && !now.empty() && std::ranges::includes(was, now)) return {};
    return fmt::format("rewritten, {} is not made one with the same products as before", form.text);
  }

  [[nodiscard]] std::string of_form(const Form& form,
                                    const std::vector<LineOperation>& done) const {
    const auto was = allowed_.find(form.text);
    for (const LineOperation& one : done)
      if (was == allowed_.end() || !was->second.kinds.contains(one.kind))
        return fmt::format("rewritten, {} becomes \"{}\", which it was not before", form.text,
                           one.kind);
    return {};
  }

  const Version& after_;
  bool known_;
  std::map<std::uint32_t, Done> was_;                // by line that stands for a value
  std::map<std::string, Done, std::less<>> allowed_; // by form
  std::map<std::uint32_t, Group> groups_;            // by the first line of a value
};

// By number of an instruction of the rewritten module, the line of the one whose copy it is.
std::vector<std::uint32_t> origins_of(const ptx::Module& original,
                                      const ptx::Module& original_lines,
                                      const ptx::Module& rewritten,
                                      const passes::Origins& origins) {
  std::vector<std::uint32_t> result(rewritten.instructions.size(), unowned);
  for (const ptx::Statement& statement : rewritten.statements) {
    if (statement.kind != ptx::StatementKind::instruction) continue;
    const std::uint32_t opcode = rewritten.instructions[statement.index].mnemonic.begin;
    const auto from = origins.of({statement.range.begin, opcode + 1});
    if (!from) continue;
    const auto next = std::ranges::upper_bound(
        original.statements, *from, {}, [](const ptx::Statement& s) { return s.range.begin; });
    if (next == original.statements.begin()) continue;
    const ptx::Statement& old = *std::prev(next);
    if (old.kind != ptx::StatementKind::instruction || *from >= old.range.end) continue;
    const auto& line = original_lines.instructions.at(old.index);
    result[statement.index] = original_lines.lines.position(line.mnemonic.begin).line;
  }
  return result;
}

// `known`: whose copies the instructions are.
Why why_different(const Version& first, const Version& version, bool known) {
  if (!version.arithmetic) return {};
  const std::string& unknown = first.unknown.empty() ? version.unknown : first.unknown;
  if (unknown.empty()) {
    std::string other = Comparison(first, version, known).run();
    return other.empty() ? Why{} : Why{Reason::machine_code, std::move(other)};
  }
  if (!version.free && (known || !version.unrounded)) return {};
  return {Reason::folding_unknown,
          fmt::format("it is not known whether functions are folded, products scaled or fused: {}",
                      unknown)};
}

using Name = const std::string&;

// Whose an operation of the original is.
std::uint32_t in_twins(Name, const Lines& twins, std::uint32_t line, std::uint32_t) {
  return mapped(twins, line);
}

std::map<std::string, Why> validate(const ptx::Module& original, const ptx::Module& made,
                                    const passes::Origins* origins,
                                    const std::vector<std::string>& kernels, Assembler& assembler) {
  std::map<std::string, Why> refused;
  try {
    const ptx::Module before = passes::spread(original), after = passes::spread(made);
    std::vector<std::uint32_t> whose(made.instructions.size(), unowned);
    if (origins != nullptr) whose = origins_of(original, before, made, *origins);
    using Purpose = AssemblyRequest::Purpose;
    const Versions was = read(before, kernels, assembler, Purpose::original, in_twins);
    const Versions is =
        read(after, kernels, assembler, Purpose::rewritten,
             [&](Name name, const Lines&, std::uint32_t line, std::uint32_t instruction) {
               const std::uint32_t of = whose.at(instruction);
               return of == unowned ? unowned + line : mapped(was.at(name).twins, of);
             });
    for (const auto& [name, version] : is)
      if (Why why = why_different(was.at(name), version, origins != nullptr); !why.empty())
        refused.emplace(name, std::move(why));
  } catch (const std::exception& error) {
    for (const std::string& kernel : kernels)
      refused.emplace(kernel, Why{Reason::internal_error, error.what()});
  }
  return refused;
}

} // namespace

std::vector<std::string> kernels_with_choice(const ptx::Module& original,
                                             const passes::Rewritten& rewritten,
                                             const std::vector<std::string>& kernels) {
  std::set<std::string_view> found;
  const auto look_at = [&](const ptx::Module& module) {
    for (const ptx::Function& function : module.functions)
      if (!function.is_declaration && !found.contains(function.name) &&
          std::ranges::count(kernels, function.name) != 0 &&
          !passes::leaves_no_choice(ptx::resolve(module, function)))
        found.insert(*std::ranges::find(kernels, function.name));
  };
  look_at(original);
  if (rewritten.module) look_at(*rewritten.module);
  std::vector<std::string> result;
  std::ranges::copy_if(kernels, std::back_inserter(result),
                       [&](const std::string& kernel) { return found.contains(kernel); });
  return result;
}

std::map<std::string, Why> validate(const ptx::Module& original, const passes::Rewritten& rewritten,
                                    const std::vector<std::string>& kernels, Assembler& assembler) {
  const auto validated = [&](const ptx::Module& made) {
    return validate(original, made, &rewritten.origins, kernels, assembler);
  };
  return rewritten.module ? validated(*rewritten.module)
                          : validated(ptx::parse(rewritten.text, original.file));
}

std::map<std::string, Why> validate(const ptx::Module& original, const ptx::Module& rewritten,
                                    const std::vector<std::string>& kernels, Assembler& assembler) {
  return validate(original, rewritten, nullptr, kernels, assembler);
}

namespace {

// Of kernels that stand in different lines of one text.
void join(Version& all, const Version& one) {
  all.forms.insert(one.forms.begin(), one.forms.end());
  all.twins.insert(one.twins.begin(), one.twins.end());
  all.origins.insert(one.origins.begin(), one.origins.end());
  all.operations_done.insert(one.operations_done.begin(), one.operations_done.end());
  if (all.unknown.empty()) all.unknown = one.unknown;
}

} // namespace

Why validate_together(const ptx::Module& original, const std::vector<std::string>& kernels,
                      const ptx::Module& rewritten, const std::string& kernel,
                      Assembler& assembler) {
  try {
    using Purpose = AssemblyRequest::Purpose;
    const Versions was =
        read(passes::spread(original), kernels, assembler, Purpose::original, in_twins);
    const Versions is =
        read(passes::spread(rewritten), {kernel}, assembler, Purpose::rewritten,
             [](Name, const Lines&, std::uint32_t line, std::uint32_t) { return unowned + line; });
    Version all;
    for (const auto& [name, version] : was)
      if (version.arithmetic) join(all, version);
    return why_different(all, is.at(kernel), false);
  } catch (const std::exception& error) {
    return {Reason::internal_error, error.what()};
  }
}

} // namespace ptxasw::oracle
