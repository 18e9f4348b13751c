// From a resolved body to the interpreter's form: operands get rows, symbols addresses, branches
// their points of reconvergence.
#include "ptx/written.hpp"
#include "semantics/windows.hpp"
#include "simt/approximate.hpp"
#include "simt/layout.hpp"
#include "simt/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <tuple>

namespace ptxasw::simt {

namespace {

using ptx::Op;
using ptx::Sub;

// What all functions of a program share while they are compiled.
struct Shared {
  Program& program;
  Layout& layout;
  std::map<std::tuple<Op, ptx::Type, Sub, bool, bool>, std::uint32_t> sync_keys;
  std::uint32_t matrices = 0;       // instructions; each is met by itself alone
  std::deque<std::uint32_t> wanted; // functions to compile

  std::uint32_t code(std::uint32_t function) {
    const auto [known, is_new] =
        program.code_of.try_emplace(function, static_cast<std::uint32_t>(program.codes.size()));
    if (is_new) {
      program.codes.push_back(std::make_unique<Code>());
      wanted.push_back(function);
    }
    return known->second;
  }
};

// Puts `more` behind `all`, and says where it stands there.
template <class T> ptx::Slice append(std::vector<T>& all, std::span<const T> more) {
  const ptx::Slice slice{static_cast<std::uint32_t>(all.size()),
                         static_cast<std::uint32_t>(more.size())};
  all.insert(all.end(), more.begin(), more.end());
  return slice;
}

// The symbol that is declared at this place of the text, or `nowhere`.
std::uint32_t symbol_at(const ptx::Body& body, std::string_view name) {
  const auto found = std::ranges::find(body.symbols, name.data(),
                                       [](const ptx::Symbol& s) { return s.name.data(); });
  return found == body.symbols.end() ? nowhere
                                     : static_cast<std::uint32_t>(found - body.symbols.begin());
}

class Compiler {
public:
  Compiler(Shared& shared, Code& code) : shared_(shared), code_(code), body_(code.body) {}

  void run() {
    number_rows();
    place_stack();
    const analysis::Cfg cfg = analysis::build_cfg(body_);
    const analysis::LoopForest forest = analysis::find_loops(cfg);
    for (const analysis::Loop& loop : forest.loops)
      code_.loops.push_back({loop.parent});
    code_.operations.reserve(body_.insts.size());
    code_.insts.reserve(body_.insts.size());
    for (ptx::InstId i = 0; i < body_.insts.size(); ++i) {
      ins_ = {};
      ins_.inst = &body_.insts[i];
      const analysis::BlockId block = cfg.block_of[i];
      ins_.loop = forest.innermost[block];
      ins_.loop_header = ins_.loop != nowhere && forest.loops[ins_.loop].header == block &&
                         cfg.blocks[block].first == i;
      const analysis::BlockId join = cfg.ipdom[block];
      if (join != analysis::no_block) ins_.reconverge = cfg.blocks[join].first;
      instruction(body_.insts[i]);
      code_.insts.push_back(ins_);
    }
    find_exits();
  }

private:
  void find_exits() {
    const auto leaves = [&](std::size_t pc) {
      return pc >= code_.insts.size() || code_.insts[pc].only_leaves;
    };
    for (std::size_t pc = code_.insts.size(); pc-- > 0;) {
      Ins& ins = code_.insts[pc];
      const bool always = ins.guard == nowhere;
      switch (ins.kind) {
      case Kind::return_:
      case Kind::exit: ins.only_leaves = always || leaves(pc + 1); break;
      case Kind::step:
      case Kind::nothing: ins.only_leaves = leaves(pc + 1); break;
      case Kind::branch: {
        const std::uint32_t target = code_.targets[ins.targets.first];
        ins.only_leaves = target > pc && leaves(target) && (always || leaves(pc + 1));
        break;
      }
      default: break;
      }
    }
  }

  // ---- Registers and the stack ----

  std::uint32_t add_row(std::uint64_t garbage) {
    code_.garbage.push_back(garbage);
    return static_cast<std::uint32_t>(code_.garbage.size() - 1);
  }

  void number_rows() {
    for (const ptx::Register& reg : body_.registers) {
      const unsigned width = std::max(ptx::bit_width(reg.type), 1U);
      const std::uint64_t pattern = 0x5aa5f00dc0ffee00 + 0x0101010101010101 * code_.garbage.size();
      const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
      rows_.push_back(add_row(width == 1 ? 0 : pattern & mask));
      if (width > 64) add_row(pattern);
    }
  }

  // A kernel's own parameters lie in the parameter space; those of functions and calls do not.
  bool on_stack(const ptx::Symbol& symbol) const {
    const bool own = body_.function->is_entry && symbol.kind == ptx::Symbol::Kind::parameter;
    return symbol.space == ptx::Space::local || (symbol.space == ptx::Space::param && !own);
  }

  void place_stack() {
    stack_offset_.assign(body_.symbols.size(), nowhere);
    std::uint64_t used = 0;
    for (std::size_t s = 0; s < body_.symbols.size(); ++s) {
      const ptx::Symbol& symbol = body_.symbols[s];
      if (!on_stack(symbol)) continue;
      used = round_up(used, std::max<std::uint64_t>(symbol.alignment, 8));
      stack_offset_[s] = static_cast<std::uint32_t>(used);
      used += symbol.size;
    }
    code_.stack_size = round_up(used, 16);
    const auto describe = [&](const std::vector<ptx::Variable>& variables,
                              std::vector<Parameter>& out) {
      for (const ptx::Variable& variable : variables) {
        Parameter p;
        p.size = size_of(variable);
        if (variable.space == ptx::Space::reg) {
          const auto reg = std::ranges::find(body_.registers, variable.name, &ptx::Register::name);
          if (reg != body_.registers.end())
            p.row = rows_[static_cast<std::size_t>(reg - body_.registers.begin())];
        } else if (const std::uint32_t s = symbol_at(body_, variable.name); s != nowhere) {
          p.offset = body_.function->is_entry ? body_.symbols[s].offset : stack_offset_[s];
        }
        out.push_back(p);
      }
    };
    describe(body_.function->parameters, code_.parameters);
    describe(body_.function->returns, code_.returns);
  }

  // ---- Operands ----

  OperandLocation constant(std::uint64_t value) {
    const auto [known, is_new] =
        constants_.try_emplace(value, static_cast<std::uint32_t>(code_.constants.size()));
    if (is_new) code_.constants.emplace_back().fill(value);
    return {OperandLocation::Base::constants, false, 64, known->second};
  }

  OperandLocation special(ptx::Special id) {
    auto& all = shared_.program.specials;
    const auto known = std::ranges::find(all, id);
    const auto row = static_cast<std::uint32_t>(known - all.begin());
    if (known == all.end()) all.push_back(id);
    ins_.reads_clock |= ptx::is_clock(id);
    if (id == ptx::Special::other) bad_operand_ = true;
    return {OperandLocation::Base::specials, false, ptx::info(id).width, row};
  }

  OperandLocation symbol(const ptx::Arg& arg) {
    const ptx::Symbol& s = body_.symbols[arg.id];
    if (s.kind == ptx::Symbol::Kind::function) {
      shared_.code(s.index);
      return constant(function_address(s.index) + arg.value);
    }
    if (stack_offset_[arg.id] != nowhere) {
      // One row for the symbol, another for each offset from it that is used.
      const auto [known, is_new] = symbol_rows_.try_emplace({arg.id, arg.value}, 0);
      if (is_new) {
        known->second = add_row(0);
        code_.stack_symbols.push_back({known->second, stack_offset_[arg.id] + arg.value});
      }
      return {OperandLocation::Base::registers, false, 64, known->second};
    }
    if (s.kind == ptx::Symbol::Kind::parameter) return constant(s.offset + arg.value);
    const auto address = shared_.layout.address(s);
    if (!address) bad_operand_ = true;
    return constant(address.value_or(0) + arg.value);
  }

  OperandLocation place(const ptx::Arg& arg) {
    OperandLocation result;
    switch (arg.kind) {
    case ptx::Arg::Kind::sink: return {};
    case ptx::Arg::Kind::imm: return constant(arg.value);
    case ptx::Arg::Kind::special: return special(arg.special);
    case ptx::Arg::Kind::symbol: return symbol(arg);
    case ptx::Arg::Kind::reg:
      result.base = OperandLocation::Base::registers;
      result.row = rows_[arg.id];
      result.width = static_cast<std::uint8_t>(ptx::bit_width(body_.registers[arg.id].type));
      break;
    }
    result.negated = arg.negated;
    return result;
  }

  ptx::Slice places(std::span<const ptx::Arg> args) {
    std::vector<OperandLocation> made;
    made.reserve(args.size());
    for (const ptx::Arg& arg : args)
      made.push_back(place(arg));
    return append<OperandLocation>(code_.places, made);
  }

  // ---- Instructions ----

  void instruction(const ptx::Inst& inst) {
    bad_operand_ = false;
    if (inst.guard != ptx::none) {
      ins_.guard = rows_[inst.guard];
      ins_.guard_negated = inst.guard_negated;
    }
    ins_.kind = kind_of(inst);
    if (ins_.kind == Kind::unsupported) return;
    ins_.type = inst.mods.type;
    ins_.space = inst.mods.space;
    ins_.dst = places(body_.dst(inst));
    ins_.src = places(body_.src(inst));
    switch (ins_.kind) {
    case Kind::step: step(inst); break;
    case Kind::load:
    case Kind::store:
    case Kind::atomic: access(inst); break;
    case Kind::copy: copy(inst); break;
    case Kind::copy_wait:
      ins_.all_copies = inst.mods.sub2 == Sub::wait_all;
      if (!ins_.all_copies) ins_.groups_left = body_.src(inst)[0].value;
      break;
    case Kind::matrix: matrix(inst); break;
    case Kind::branch:
    case Kind::branch_table: ins_.targets = append(code_.targets, body_.targets_of(inst)); break;
    case Kind::call: call(inst); break;
    case Kind::warp_sync:
      ins_.sync_key =
          shared_.sync_keys
              .try_emplace({inst.op, inst.mods.type, inst.mods.sub, inst.mods.nan, inst.mods.sync},
                           static_cast<std::uint32_t>(shared_.sync_keys.size()))
              .first->second;
      break;
    default: break;
    }
    if (bad_operand_) ins_.kind = Kind::unsupported;
  }

  Kind kind_of(const ptx::Inst& inst) const {
    const ptx::Modifiers& m = inst.mods;
    const bool asynchronous = m.sub == Sub::async || m.sub == Sub::bulk;
    switch (ptx::group(inst.op)) {
    case ptx::Group::hint:
    case ptx::Group::fence: return Kind::nothing;
    case ptx::Group::exit:
      return inst.op == Op::ret ? Kind::return_ : inst.op == Op::exit ? Kind::exit : Kind::trap;
    default: break;
    }
    // No pass knows a matrix instruction, nor does it matter to a policy how it was made.
    if (matrix_known(body_, inst)) return Kind::matrix;
    if (inst.op == Op::createpolicy && inst.dst.count == 1) return Kind::policy;
    if (inst.opaque) return Kind::unsupported;
    switch (ptx::group(inst.op)) {
    case ptx::Group::pure: return Kind::step;
    case ptx::Group::load: return Kind::load;
    case ptx::Group::store:
      return inst.op == Op::st && !asynchronous ? Kind::store : Kind::unsupported;
    case ptx::Group::atomic:
      return inst.op != Op::multimem && !asynchronous ? Kind::atomic : Kind::unsupported;
    case ptx::Group::async_copy: return copy_kind(inst);
    case ptx::Group::branch: return inst.op == Op::bra ? Kind::branch : Kind::branch_table;
    case ptx::Group::call: return Kind::call;
    case ptx::Group::barrier:
      if (inst.op == Op::setmaxnreg) return Kind::nothing;
      return m.sub == Sub::warp ? Kind::warp_sync : Kind::barrier;
    case ptx::Group::warp: return inst.op == Op::activemask ? Kind::active_mask : Kind::warp_sync;
    default: return Kind::unsupported;
    }
  }

  Kind copy_kind(const ptx::Inst& inst) const {
    if (inst.op != Op::cp || inst.mods.sub != Sub::async) return Kind::unsupported;
    const auto src = body_.src(inst);
    if (inst.mods.sub2 == Sub::commit_group) return Kind::copy_commit;
    if (inst.mods.sub2 == Sub::wait_all) return Kind::copy_wait;
    if (inst.mods.sub2 == Sub::wait_group && src.size() == 1 && src[0].kind == ptx::Arg::Kind::imm)
      return Kind::copy_wait;
    const bool plain = inst.mods.sub2 == Sub::none && inst.addr.count == 2 &&
                       inst.mods.space == ptx::Space::shared &&
                       inst.mods.space2 == ptx::Space::global;
    return plain ? Kind::copy : Kind::unsupported;
  }

  void step(const ptx::Inst& inst) {
    ins_.step = sem::find_step<sem::ConcreteDomain>(body_, inst);
    if (ins_.step == nullptr) {
      ins_.step = find_approximate(inst);
      ins_.approximate = ins_.step != nullptr;
    }
    if (ins_.step == nullptr || inst.src.count > most_operands || inst.dst.count > most_operands) {
      ins_.kind = Kind::unsupported;
      return;
    }
    const auto plain = [](const OperandLocation& p) { return p.width <= 64 && !p.negated; };
    const std::span src(&code_.places[ins_.src.first], ins_.src.count);
    const std::span dst(&code_.places[ins_.dst.first], ins_.dst.count);
    ins_.plain = src.size() <= 3 && dst.size() == 1 && std::ranges::all_of(src, plain) &&
                 dst[0].base == OperandLocation::Base::registers && dst[0].width <= 64;
    code_.operations.push_back(sem::operation(body_, inst));
    ins_.operation = &code_.operations.back(); // room was reserved: it stays there
  }

  void access(const ptx::Inst& inst) {
    const unsigned width = ptx::bit_width(inst.mods.type);
    ins_.elements = inst.mods.vector;
    ins_.element_bytes = static_cast<std::uint8_t>(width / 8);
    const std::size_t values = ins_.kind == Kind::load ? inst.dst.count : inst.src.count;
    if (inst.addr.count != 1 || width < 8 || values < inst.mods.vector) bad_operand_ = true;
    if (bad_operand_) return;
    const ptx::Address& address = body_.addr(inst)[0];
    ins_.address = place(address.base);
    ins_.offset = address.offset;
    if (ins_.kind == Kind::store && body_.src(inst)[0].kind == ptx::Arg::Kind::reg)
      ins_.data_offset = body_.src(inst)[0].value;
    // Parameters of functions, and of the calls that a kernel makes, lie on the stack.
    // A generic access to a variable that is named is one of the variable's space, as for ptxas.
    if (ins_.space == ptx::Space::generic && address.base.kind == ptx::Arg::Kind::symbol)
      ins_.space = body_.symbols[address.base.id].space;
    const bool stack = address.base.kind == ptx::Arg::Kind::symbol
                           ? stack_offset_[address.base.id] != nowhere
                           : !body_.function->is_entry;
    if (ins_.space == ptx::Space::param && stack) ins_.space = ptx::Space::local;
  }

  // The Body's order of addresses: destination, source.
  void copy(const ptx::Inst& inst) {
    const auto addresses = body_.addr(inst);
    const auto sizes = body_.src(inst);
    if (sizes.empty() || sizes[0].kind != ptx::Arg::Kind::imm || sizes[0].value > 16) {
      bad_operand_ = true;
      return;
    }
    ins_.element_bytes = static_cast<std::uint8_t>(sizes[0].value);
    ins_.space = ptx::Space::global;
    ins_.address = place(addresses[1].base);
    ins_.offset = addresses[1].offset;
    ins_.copy_offset = addresses[0].offset;
    std::vector<OperandLocation> src{place(addresses[0].base)};
    auto more = sizes.subspan(1);
    if (inst.mods.cache_hint && !more.empty()) more = more.first(more.size() - 1);
    for (const ptx::Arg& size : more)
      src.push_back(place(size));
    ins_.src = append<OperandLocation>(code_.places, src);
  }

  void matrix(const ptx::Inst& inst) {
    ins_.sync_key = 1U << 31 | shared_.matrices++;
    if (inst.addr.count == 0) return;
    ins_.element_bytes = 16; // a row of ldmatrix
    ins_.address = place(body_.addr(inst)[0].base);
    ins_.offset = body_.addr(inst)[0].offset;
    if (ins_.space == ptx::Space::generic &&
        body_.addr(inst)[0].base.kind == ptx::Arg::Kind::symbol)
      ins_.space = ptx::Space::shared;
  }

  CallValue call_value(const ptx::Arg& arg) {
    CallValue value;
    if (arg.kind == ptx::Arg::Kind::symbol && stack_offset_[arg.id] != nowhere) {
      value.stack = stack_offset_[arg.id];
      value.size = body_.symbols[arg.id].size;
    } else {
      value.place = place(arg);
      value.size = std::max(value.place.width / 8, 1);
    }
    return value;
  }

  // An indirect call may reach any function whose address is taken somewhere.
  void want_all_functions() {
    const auto& functions = body_.module->functions;
    for (std::uint32_t i = 0; i < functions.size(); ++i)
      if (!functions[i].is_entry && !functions[i].is_declaration) shared_.code(i);
  }

  void call(const ptx::Inst& inst) {
    CallSite site;
    auto src = body_.src(inst);
    if (inst.callee == ptx::none && !src.empty()) {
      site.target = place(src.back());
      want_all_functions();
      src = src.first(src.size() - 1);
    } else if (inst.callee != ptx::none) {
      ins_.callee = shared_.code(inst.callee);
    }
    for (const ptx::Arg& arg : src)
      site.arguments.push_back(call_value(arg));
    for (const ptx::Arg& place : body_.returned(inst))
      site.results.push_back(
          {.stack = stack_offset_[place.id], .size = body_.symbols[place.id].size});
    for (const ptx::Arg& arg : body_.dst(inst))
      site.results.push_back(call_value(arg));
    ins_.targets = {static_cast<std::uint32_t>(code_.calls.size()), 1};
    code_.calls.push_back(std::move(site));
  }

  Shared& shared_;
  Code& code_;
  const ptx::Body& body_;
  Ins ins_;
  bool bad_operand_ = false;
  std::vector<std::uint32_t> rows_;         // per register
  std::vector<std::uint32_t> stack_offset_; // per symbol
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> symbol_rows_;
  std::map<std::uint64_t, std::uint32_t> constants_;
};

} // namespace

tl::expected<ProgramPtr, std::string> compile(std::shared_ptr<const ptx::Module> module,
                                              std::string_view kernel) {
  // Nothing that ptxas still takes; the text says so, as modules without the directive are many.
  if (module->address_size == 32 && module->text->find(".address_size") != std::string::npos)
    return tl::make_unexpected(fmt::format("{}: unsupported: addresses of 32 bits", module->file));
  auto program = std::make_shared<Program>();
  program->module = std::move(module);
  const auto& functions = program->module->functions;
  program->kernel = ptx::find_kernel(*program->module, kernel);
  if (program->kernel == nullptr)
    return tl::make_unexpected(
        fmt::format("there is no kernel {} in {}", kernel, program->module->file));
  Layout layout(*program);
  Shared shared{*program, layout, {}, {}};
  shared.code(static_cast<std::uint32_t>(program->kernel - functions.data()));
  while (!shared.wanted.empty()) {
    const ptx::Function& function = functions[shared.wanted.front()];
    Code& code = *program->codes[shared.code(shared.wanted.front())];
    shared.wanted.pop_front();
    code.name = function.name;
    code.external = function.is_declaration;
    if (code.external) continue;
    code.body = ptx::resolve(*program->module, function, nullptr, ptx::VectorRegisters::elements);
    if (!code.body.usable) {
      std::string why = fmt::format("the body of {} cannot be used", function.name);
      if (!code.body.diagnostics.empty())
        why = ptx::render(code.body.diagnostics.front(), *program->module->text,
                          program->module->lines, program->module->file);
      return tl::make_unexpected(std::move(why));
    }
    Compiler(shared, code).run();
  }
  for (const Parameter& p : program->codes.front()->parameters)
    program->parameter_size = std::max(program->parameter_size, p.offset + p.size);
  return program;
}

std::string place_of(const Program& program, const ptx::Inst& inst) {
  const ptx::Module& module = *program.module;
  const ptx::Range range = module.statements[inst.statement].range;
  return fmt::format("{}:{}", module.file, module.lines.position(range.begin).line);
}

std::string text_of(const Program& program, const ptx::Inst& inst) {
  const ptx::Module& module = *program.module;
  std::string_view text = module.slice(module.statements[inst.statement].range);
  if (!text.empty() && text.back() == ';') text.remove_suffix(1);
  constexpr std::size_t longest = 100;
  return std::string(text.substr(0, std::min(longest, text.find('\n'))));
}

} // namespace ptxasw::simt
