// From statements to a resolved body: one pass finds scopes and labels, a second one resolves each
// instruction. Whatever does not fit the ISA's operand forms makes the instruction opaque or, when
// its registers cannot be told, the body unusable; nothing is guessed.
#include "ptx/body.hpp"

#include "ptx/operand_roles.hpp"
#include "ptx/scope.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace ptxasw::ptx {

namespace {

// Deeper blocks would make look-ups slow; no compiler nests them so.
constexpr std::uint32_t deepest_scope = 256;
// Branch targets of one body; many branches over one large table would multiply.
constexpr std::size_t most_targets = 1U << 20;

class Resolver {
public:
  Resolver(const Module& module, const Function& function, std::vector<Mention>* mentions,
           VectorRegisters vectors)
      : module_(module), function_(function), scopes_(body_, vectors),
        elements_(vectors == VectorRegisters::elements), mentions_(mentions) {
    body_.module = &module;
    body_.function = &function;
  }

  Body run() {
    if (function_.has_opaque) {
      fail(module_.statements[function_.statement].range,
           fmt::format("the body of '{}' has statements that could not be read", function_.name));
      return std::move(body_);
    }
    scopes_.declare_parameters(function_);
    if (find_labels()) resolve_all();
    return std::move(body_);
  }

private:
  void fail(Range where, std::string message) {
    body_.usable = false;
    body_.diagnostics.push_back({Severity::error, where, std::move(message)});
  }

  // ---- First pass: scopes, labels, tables ----

  bool find_labels() {
    Scopes::Id scope = 0;
    std::uint32_t depth = 0;
    InstId next = 0;
    for (const Statement& statement : module_.body_of(function_)) {
      bool fresh = true;
      switch (statement.kind) {
      case StatementKind::scope_open:
        scope = scopes_.add(scope);
        if (++depth > deepest_scope) {
          fail(statement.range, "blocks are nested too deeply");
          return false;
        }
        break;
      case StatementKind::scope_close:
        scope = scopes_.parent(scope);
        --depth;
        break;
      case StatementKind::instruction: ++next; break;
      case StatementKind::label:
        fresh = scopes_.declare_label(scope, module_.labels[statement.index], next);
        break;
      case StatementKind::prototype:
        fresh = scopes_.declare_prototype(scope, module_.prototypes[statement.index].label,
                                          statement.index);
        break;
      default: break;
      }
      if (!fresh) fail(statement.range, "this label stands twice in the same block");
    }
    body_.insts.reserve(next);
    body_.args.reserve(3 * std::size_t{next});
    return true;
  }

  // ---- Second pass: instructions ----

  void resolve_all() {
    Scopes::Id opened = 0;
    Location location;
    for (std::uint32_t i = 0; i < function_.body.count; ++i) {
      const std::uint32_t index = function_.body.first + i;
      const Statement& statement = module_.statements[index];
      switch (statement.kind) {
      case StatementKind::scope_open: scope_ = ++opened; break;
      case StatementKind::scope_close: scope_ = scopes_.parent(scope_); break;
      case StatementKind::location: location = module_.locations[statement.index]; break;
      case StatementKind::variable:
        for (std::uint32_t v = 0; v < statement.count; ++v)
          scopes_.declare(scope_, module_.variables[statement.index + v]);
        break;
      case StatementKind::instruction: instruction(index, location); break;
      default: break;
      }
    }
  }

  void instruction(std::uint32_t statement, const Location& location) {
    const Instruction& written = module_.instructions[module_.statements[statement].index];
    where_ = module_.statements[statement].range;
    dst_.clear();
    src_.clear();
    returned_.clear();
    inst_ = {};
    inst_.op = written.op;
    inst_.statement = statement;
    inst_.line = location.line;
    inst_.file = location.file;
    inst_.mods = decode(written.op, module_.modifiers_of(written));
    inst_.opaque = written.op == Op::unknown || inst_.mods.unknown;
    inst_.addr.first = size32(body_.addresses.size());
    inst_.targets.first = size32(body_.targets.size());
    guard(written.guard);
    operands(module_.operands_of(written));
    carry();
    inst_.dst = store(dst_);
    inst_.src = store(src_);
    inst_.returned = store(returned_);
    inst_.addr.count = size32(body_.addresses.size()) - inst_.addr.first;
    inst_.targets.count = size32(body_.targets.size()) - inst_.targets.first;
    body_.insts.push_back(inst_);
  }

  static std::uint32_t size32(std::size_t size) { return static_cast<std::uint32_t>(size); }

  Slice store(const std::vector<Arg>& args) {
    const Slice slice{size32(body_.args.size()), size32(args.size())};
    body_.args.insert(body_.args.end(), args.begin(), args.end());
    return slice;
  }

  void guard(const Guard& written) {
    if (written.predicate.empty()) return;
    const Arg arg = scopes_.find(scope_, written.predicate);
    mention(written.predicate, arg);
    if (arg.kind != Arg::Kind::reg || body_.registers[arg.id].type != Type::pred) {
      fail(where_, fmt::format("'{}' is not a predicate register", written.predicate));
      return;
    }
    inst_.guard = arg.id;
    inst_.guard_negated = written.negated;
  }

  void operands(std::span<const Operand> all) {
    switch (group(inst_.op)) {
    case Group::branch: return branch(all);
    case Group::call: return call(all);
    case Group::unknown: return unknown(all);
    default: break;
    }
    const std::size_t written = result_count(inst_.op, inst_.mods, all);
    if (all.size() < written) return fail(where_, "an operand is missing");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i < written)
        destination(all[i]);
      else
        source(all[i], source_type(inst_.op, inst_.mods, i - written));
    // The accumulator is read where it is written.
    if (inst_.op == Op::wgmma) src_.insert(src_.end(), dst_.begin(), dst_.end());
  }

  // The carry flag is the last source or destination.
  void carry() {
    const bool reads = inst_.op == Op::addc || inst_.op == Op::subc || inst_.op == Op::madc;
    if (!reads && !inst_.mods.cc) return;
    if (body_.carry == none) body_.carry = scopes_.add_register("CC.CF", Type::pred);
    Arg flag;
    flag.kind = Arg::Kind::reg;
    flag.id = body_.carry;
    if (reads) src_.push_back(flag);
    if (inst_.mods.cc) dst_.push_back(flag);
  }

  // An unknown opcode may read and write every register it names.
  void unknown(std::span<const Operand> all) {
    for (const Operand& operand : all)
      source(operand, Type::none);
    for (const Arg& arg : src_)
      if (arg.kind == Arg::Kind::reg) dst_.push_back(arg);
    for (std::size_t i = inst_.addr.first; i < body_.addresses.size(); ++i)
      if (const Arg& base = body_.addresses[i].base; base.kind == Arg::Kind::reg)
        dst_.push_back(base);
  }

  // ---- Operands ----

  Arg named(std::string_view text) {
    if (text.find_first_of(" \t") != std::string_view::npos) return joined(text); // %tid .x
    Arg arg = scopes_.find(scope_, text);
    const std::size_t dot = text.find('.');
    if (arg.kind == Arg::Kind::sink && dot != std::string_view::npos) {
      arg = scopes_.find(scope_, text.substr(0, dot));
      if (arg.kind == Arg::Kind::reg && element(arg, text.substr(dot + 1))) return arg;
      arg.selector = text.substr(dot + 1);
      inst_.opaque |= !is_video(inst_.op) || arg.kind != Arg::Kind::reg;
    }
    if (arg.kind == Arg::Kind::sink) fail(where_, fmt::format("'{}' is not declared", text));
    mention(arg.selector.empty() ? text : text.substr(0, dot), arg);
    if (arg.kind == Arg::Kind::reg && scopes_.length(arg.id) != 1) inst_.opaque = true;
    return arg;
  }

  // %v.y, also written %v.g: makes it the register of that element.
  bool element(Arg& vector, std::string_view selector) {
    const std::uint32_t length = scopes_.length(vector.id);
    if (!elements_ || length == 1 || selector.size() != 1) return false;
    std::size_t index = std::string_view("xyzw").find(selector);
    if (index == std::string_view::npos) index = std::string_view("rgba").find(selector);
    if (index >= length) return false;
    vector.id += 1 + static_cast<RegId>(index);
    return true;
  }

  // A register that stands where a list may: a vector as its elements.
  void spread(std::string_view text, std::vector<Arg>& into) {
    const bool opaque = inst_.opaque;
    Arg arg = named(text);
    const bool whole = arg.kind == Arg::Kind::reg && scopes_.length(arg.id) != 1;
    if (!elements_ || !whole || !arg.selector.empty()) {
      into.push_back(arg);
      return;
    }
    inst_.opaque = opaque;
    const std::uint32_t length = scopes_.length(arg.id);
    for (std::uint32_t i = 0; i < length; ++i) {
      ++arg.id;
      into.push_back(arg);
    }
  }

  // A special register with blanks before its selector; a selector of anything else must point into
  // the text and is not worth the trouble.
  Arg joined(std::string_view text) {
    std::string name(text);
    std::erase_if(name, [](char c) { return c == ' ' || c == '\t'; });
    if (find_special(name) != nullptr) {
      const Arg arg = scopes_.find(scope_, name);
      mention(text, arg);
      return arg;
    }
    fail(where_, fmt::format("'{}' is not declared", text));
    return {};
  }

  void mention(std::string_view name, const Arg& arg) {
    if (mentions_ == nullptr) return;
    const std::uint32_t begin =
        size32(static_cast<std::size_t>(name.data() - module_.text->data()));
    mentions_->push_back({{begin, begin + size32(name.size())}, arg});
  }

  void destination(const Operand& operand) {
    switch (operand.kind) {
    case OperandKind::sink: dst_.emplace_back(); return;
    case OperandKind::vector:
    case OperandKind::pair:
      for (const Operand& child : module_.children(operand))
        destination(child);
      return;
    case OperandKind::name: {
      spread(operand.text, dst_);
      const Arg arg = dst_.back();
      if (arg.kind == Arg::Kind::reg) {
        // A part of a register is written: the rest is kept. A video instruction's rest comes from
        // a source of its own.
        if (!arg.selector.empty() && !is_video(inst_.op)) src_.push_back(arg);
        return;
      }
      dst_.pop_back();
      if (arg.kind == Arg::Kind::sink) return; // not declared: said already
      break;
    }
    default: break;
    }
    fail(operand.range, "the result does not go to a register");
  }

  void source(const Operand& operand, Type type) {
    switch (operand.kind) {
    case OperandKind::name: spread(operand.text, src_); break;
    case OperandKind::integer:
    case OperandKind::float32:
    case OperandKind::float64: src_.push_back(immediate(operand, type)); break;
    case OperandKind::negated:
      src_.push_back(named(module_.children(operand)[0].text));
      src_.back().negated = true;
      break;
    case OperandKind::expression: src_.push_back(expression(operand)); break;
    case OperandKind::sink:
      src_.emplace_back();
      inst_.opaque = true;
      break;
    case OperandKind::pair: inst_.opaque = true; [[fallthrough]];
    case OperandKind::vector:
    case OperandKind::list:
      for (const Operand& child : module_.children(operand))
        source(child, type);
      break;
    case OperandKind::address: address(operand); break;
    }
  }

  // symbol + constant, or what a store takes; other expressions have no value here.
  Arg expression(const Operand& operand) {
    Arg arg;
    if (operand.children.count == 1) {
      arg = named(module_.children(operand)[0].text);
      arg.value = operand.value;
    }
    const bool stored = elements_ && inst_.op == Op::st && inst_.mods.vector == 1 &&
                        arg.kind == Arg::Kind::reg && arg.selector.empty() &&
                        !is_float(body_.registers[arg.id].type);
    if (arg.kind != Arg::Kind::symbol && !stored) inst_.opaque = true;
    return arg;
  }

  Arg immediate(const Operand& operand, Type type) {
    Arg arg;
    arg.kind = Arg::Kind::imm;
    arg.value = operand.value;
    if (operand.kind == OperandKind::integer) {
      inst_.opaque |= is_float(type);
      return arg;
    }
    const bool single = operand.kind == OperandKind::float32;
    arg.literal = single ? Arg::Literal::f32 : Arg::Literal::f64;
    if (type == Type::f32 && !single) {
      const auto value = static_cast<float>(std::bit_cast<double>(operand.value));
      arg.value = std::bit_cast<std::uint32_t>(value);
      arg.literal = Arg::Literal::f32;
    } else if (type == Type::f64 && single) {
      const double value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.value));
      arg.value = std::bit_cast<std::uint64_t>(value);
      arg.literal = Arg::Literal::f64;
    } else if (type != Type::f32 && type != Type::f64) {
      // Bits in an untyped place of the same width; anything else has no agreed meaning.
      inst_.opaque |= type != (single ? Type::b32 : Type::b64);
    }
    return arg;
  }

  void address(const Operand& operand) {
    const auto children = module_.children(operand);
    Address result;
    result.offset = std::bit_cast<std::int64_t>(operand.value);
    const Operand& base = children[0];
    if (base.kind == OperandKind::name) {
      result.base = named(base.text);
    } else if (base.kind == OperandKind::integer) {
      result.base = immediate(base, Type::none);
    } else {
      inst_.opaque = true;
    }
    body_.addresses.push_back(result);
    for (const Operand& extra : children.subspan(1)) {
      inst_.opaque = true; // coordinates of textures and tensors
      source(extra, Type::none);
    }
  }

  // ---- Control flow ----

  bool target(std::string_view name, Range where) {
    const InstId label = scopes_.label(scope_, name);
    if (label == none) {
      fail(where, fmt::format("'{}' is not a label in sight", name));
      return false;
    }
    if (body_.targets.size() == most_targets) {
      fail(where, "too many branch targets");
      return false;
    }
    body_.targets.push_back(label);
    return true;
  }

  // One entry of a table: a label, or name<n> for name0 to name(n-1).
  bool targets(const Operand& entry) {
    if (entry.value == 0) return target(entry.text, entry.range);
    for (std::uint64_t i = 0; i < entry.value; ++i)
      if (!target(fmt::format("{}{}", entry.text, i), entry.range)) return false;
    return true;
  }

  void branch(std::span<const Operand> all) {
    if (inst_.op == Op::bra && all.size() == 1) {
      target(all[0].text, all[0].range);
      return;
    }
    const std::uint32_t table =
        inst_.op == Op::brx && all.size() == 2 ? scopes_.prototype(scope_, all[1].text) : none;
    if (table == none || module_.prototypes[table].directive != ".branchtargets")
      return fail(where_, "the targets of this branch are not known");
    source(all[0], Type::u32);
    const Slice names = module_.prototypes[table].names;
    for (std::uint32_t i = 0; i < names.count; ++i)
      if (!targets(module_.operands[names.first + i])) return;
  }

  // call (results), function, (arguments), prototype: results and arguments may be absent.
  void call(std::span<const Operand> all) {
    const auto is_list = [&](std::size_t i) {
      return i < all.size() && all[i].kind == OperandKind::list;
    };
    std::size_t at = 0;
    if (is_list(0)) results_of_call(all[at++]);
    if (at >= all.size() || all[at].kind != OperandKind::name)
      return fail(where_, "the function to call is missing");
    const Arg target = named(all[at++].text);
    if (is_list(at)) source(all[at], Type::none);
    if (target.kind == Arg::Kind::symbol && body_.symbols[target.id].kind == Symbol::Kind::function)
      inst_.callee = body_.symbols[target.id].index;
    else
      src_.push_back(target); // indirect: the last source
  }

  // Results in .param variables are read back by ld.param; registers are written here.
  void results_of_call(const Operand& list) {
    for (const Operand& operand : module_.children(list)) {
      const Arg place = operand.kind == OperandKind::name ? named(operand.text) : Arg{};
      if (place.kind == Arg::Kind::symbol)
        returned_.push_back(place);
      else
        destination(operand);
    }
  }

  const Module& module_;
  const Function& function_;
  Body body_;
  Scopes scopes_;
  Scopes::Id scope_ = 0;
  bool elements_;
  std::vector<Mention>* mentions_;

  // Of the instruction at hand.
  Range where_;
  Inst inst_;
  std::vector<Arg> dst_, src_, returned_;
};

} // namespace

Body resolve(const Module& module, const Function& function, std::vector<Mention>* mentions,
             VectorRegisters vectors) {
  Body body = Resolver(module, function, mentions, vectors).run();
  if (mentions != nullptr)
    std::ranges::sort(*mentions, {}, [](const Mention& m) { return m.where.begin; });
  return body;
}

std::uint32_t line_of(const Body& body, const Inst& inst) {
  const Module& module = *body.module;
  return module.lines.position(module.statements[inst.statement].range.begin).line;
}

bool reads_special(const Body& body, Special special) {
  return std::ranges::any_of(body.args, [&](const Arg& arg) {
    return arg.kind == Arg::Kind::special && arg.special == special;
  });
}

} // namespace ptxasw::ptx
