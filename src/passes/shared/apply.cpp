// Marks come out of the pieces of the edited text; where they stood, and where text was kept, is
// remembered by offset in the new text.
#include "passes/shared/apply.hpp"

#include "passes/shared/bindings.hpp"
#include "ptx/edited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace ptxasw::passes {

using ptx::Arg;
using ptx::Inst;
using ptx::Mention;
using ptx::Op;
using ptx::RegId;

namespace {

struct Marked {
  std::uint32_t at = 0;
  Binding meaning;
};

struct NewText {
  std::string text;
  std::vector<ptx::Edit> edits; // of the module's text, without marks
  std::vector<Marked> marks;
  Origins origins;
};

std::uint32_t size32(std::size_t size) {
  return static_cast<std::uint32_t>(size);
}

NewText assemble(const ptx::Module& module, std::span<const ptx::Edit> edits) {
  NewText result;
  result.text.reserve(module.text->size());
  std::uint32_t kept = 0;  // of the module's text, up to here
  std::size_t written = 0; // of the new one, that is known to be kept or edited
  const auto edit_up_to = [&](std::uint32_t from) {
    if (from != kept || written != result.text.size())
      result.edits.push_back({{kept, from}, result.text.substr(written)});
  };
  for (ptx::Piece piece : ptx::pieces(module, edits)) {
    if (piece.from != ~0U) {
      edit_up_to(piece.from);
      kept = piece.from + size32(piece.text.size());
      written = result.text.size() + piece.text.size();
      result.origins.keep(size32(result.text.size()), size32(piece.text.size()), piece.from);
      result.text += piece.text;
      continue;
    }
    while (!piece.text.empty()) {
      if (const auto mark = take_mark(piece.text)) {
        const std::uint32_t at = size32(result.text.size());
        if (mark->piece != ptx::none) {
          result.origins.copy(at, mark->piece);
        } else if (mark->meaning.reg != ptx::none) {
          result.marks.push_back({at, mark->meaning});
        }
        continue;
      }
      // A mark that is none is left, and found where it stands.
      const std::size_t plain = std::max<std::size_t>(piece.text.find(mark_begin), 1);
      result.text += piece.text.substr(0, plain);
      piece.text.remove_prefix(std::min(plain, piece.text.size()));
    }
  }
  edit_up_to(size32(module.text->size()));
  return result;
}

// One type for all operands.
bool has_one_width(const Inst& inst) {
  switch (inst.op) {
  case Op::mov:
  case Op::add:
  case Op::sub:
  case Op::div:
  case Op::rem:
  case Op::min:
  case Op::max:
  case Op::abs:
  case Op::neg:
  case Op::and_:
  case Op::or_:
  case Op::xor_:
  case Op::not_: return inst.mods.type2 == ptx::Type::none && !inst.mods.cc;
  case Op::mul:
  case Op::mad: return inst.mods.half == ptx::Half::lo && !inst.mods.cc;
  default: return false;
  }
}

bool fits(const ptx::Body& body, const Inst& inst) {
  const bool packs = inst.op == Op::mov && inst.src.count + inst.dst.count != 2;
  if (!has_one_width(inst) || inst.opaque || packs) return true;
  const auto as_wide = [&](const Arg& arg) {
    return arg.kind != Arg::Kind::reg ||
           ptx::bit_width(body.registers[arg.id].type) == ptx::bit_width(inst.mods.type);
  };
  return std::ranges::all_of(body.src(inst), as_wide) &&
         std::ranges::all_of(body.dst(inst), as_wide);
}

class Comparison {
public:
  Comparison(const ptx::Module& before, const ptx::Module& after, const NewText& text,
             std::size_t function)
      : text_(text), old_(ptx::resolve(before, before.functions[function])), names_(old_),
        new_(ptx::resolve(after, after.functions[function], &mentions_)) {}

  // Empty, or why the new function is not what was meant.
  Why run() {
    if (!new_.usable)
      return internal(fmt::format("in the rewritten text {}", new_.diagnostics.empty()
                                                                  ? "something"
                                                                  : new_.diagnostics[0].message));
    for (const Mention& mention : mentions_) {
      if (const Why why = compare(mention); !why.empty())
        return {why.reason,
                fmt::format("{}: {}", text_.text.substr(mention.where.begin, mention.where.size()),
                            why.text)};
    }
    const auto fit = [](const ptx::Body& body) {
      return std::ranges::all_of(body.insts, [&](const Inst& inst) { return fits(body, inst); });
    };
    if (fit(old_) && !fit(new_))
      return internal("an instruction would read a register of another width");
    return {};
  }

private:
  static Why internal(const std::string& what) {
    return {Reason::internal_error, "internal error: " + what};
  }
  [[nodiscard]] const Binding* mark_at(std::uint32_t at) const {
    const auto mark = std::ranges::lower_bound(text_.marks, at, {}, &Marked::at);
    return mark != text_.marks.end() && mark->at == at ? &mark->meaning : nullptr;
  }
  [[nodiscard]] const Mention* old_at(std::uint32_t at) const {
    const auto& mentions = names_.mentions();
    const auto m = std::ranges::lower_bound(mentions, at, {},
                                            [](const Mention& old) { return old.where.begin; });
    return m != mentions.end() && m->where.begin == at ? &*m : nullptr;
  }

  Why compare(const Mention& mention) {
    if (const Binding* meaning = mark_at(mention.where.begin)) return means(mention, *meaning);
    if (const auto from = text_.origins.kept(mention.where.begin)) {
      const Mention* old = old_at(*from);
      if (old == nullptr) return internal("it is read in another way");
      return old->arg.kind == Arg::Kind::reg ? means(mention, {old->arg.id, 0})
                                             : stays(mention.arg, old->arg);
    }
    return is_new(mention);
  }

  // Registers and what is meant by them are pairs.
  Why means(const Mention& mention, Binding meaning) {
    const Why why{Reason::unknown_name, "means another register where it would be needed"};
    if (mention.arg.kind != Arg::Kind::reg) return why;
    const auto [reg, first] = registers_.try_emplace(meaning, mention.arg.id);
    const auto [back, first_back] = meanings_.try_emplace(mention.arg.id, meaning);
    if (reg->second != mention.arg.id || back->second != meaning) return why;
    if (old_.registers[meaning.reg].type != new_.registers[mention.arg.id].type)
      return internal("its register would have another type");
    return {};
  }

  [[nodiscard]] Why stays(const Arg& now, const Arg& before) const {
    bool same = now.kind == before.kind && now.special == before.special;
    if (same && now.kind == Arg::Kind::symbol) {
      const ptx::Symbol &a = new_.symbols[now.id], &b = old_.symbols[before.id];
      same = a.name == b.name && a.kind == b.kind && a.space == b.space;
    }
    return same ? Why{} : Why{Reason::unknown_name, "means something else in the rewritten text"};
  }

  // What a rewrite names without a mark is its own, a special register, or a parameter.
  Why is_new(const Mention& mention) {
    const std::string_view name =
        std::string_view(text_.text).substr(mention.where.begin, mention.where.size());
    switch (mention.arg.kind) {
    case Arg::Kind::special: return {};
    case Arg::Kind::symbol:
      return names_.declares(name) && !is_of_a_call(mention.arg, name)
                 ? Why{Reason::unknown_name, "the kernel declares a variable of this name"}
                 : Why{};
    default: break;
    }
    if (names_.declares(name))
      return {Reason::unknown_name, "the kernel declares a register of this name"};
    const auto [back, first] = own_.try_emplace(mention.arg.id, name);
    return back->second == name && !meanings_.contains(mention.arg.id)
               ? Why{}
               : internal("a register of the rewrite's own has two names");
  }

  // A call's .param variable is declared in the same braces again, whichever copy calls.
  [[nodiscard]] bool is_of_a_call(const Arg& arg, std::string_view name) const {
    const auto fits = [](const ptx::Symbol& s) {
      return s.kind == ptx::Symbol::Kind::variable && s.space == ptx::Space::param;
    };
    return fits(new_.symbols[arg.id]) &&
           std::ranges::all_of(old_.symbols,
                               [&](const ptx::Symbol& s) { return s.name != name || fits(s); });
  }

  const NewText& text_;
  ptx::Body old_;
  Names names_;
  std::vector<Mention> mentions_; // of the new body
  ptx::Body new_;
  std::map<Binding, RegId> registers_;
  std::map<RegId, Binding> meanings_;
  std::map<RegId, std::string_view> own_;
};

// A register called like a special one would be read in its place.
Why why_unsafe_names(const ptx::Module& module, const ptx::Function& function) {
  for (const ptx::Statement& statement : module.body_of(function)) {
    if (statement.kind != ptx::StatementKind::variable) continue;
    for (std::uint32_t v = 0; v < statement.count; ++v) {
      const std::string_view name = module.variables[statement.index + v].name;
      if (ptx::find_special(name) != nullptr ||
          ptx::find_special(fmt::format("{}.x", name)) != nullptr)
        return {Reason::special_name,
                fmt::format("it declares {}, which is the name of a special register", name)};
    }
  }
  return {};
}

// Marks every change whose function does not come out as meant; true if there is none.
bool check(const ptx::Module& module, const NewText& text, const ptx::Module& after,
           std::span<FunctionEdits> changes) {
  const bool readable = after.diagnostics.size() <= module.diagnostics.size() &&
                        after.functions.size() == module.functions.size();
  bool fine = true;
  for (FunctionEdits& change : changes) {
    if (change.edits.empty() || !change.refused.empty()) continue;
    change.refused = readable ? Comparison(module, after, text, change.function).run()
                              : Why{Reason::internal_error,
                                    "internal error: the rewritten text cannot be read back"};
    fine &= change.refused.empty();
  }
  return fine;
}

} // namespace

void Origins::keep(std::uint32_t at, std::uint32_t size, std::uint32_t from) {
  pieces_.push_back({at, size, from});
}
void Origins::copy(std::uint32_t at, std::uint32_t from) {
  pieces_.push_back({at, 0, from});
}

std::optional<std::uint32_t> Origins::kept(std::uint32_t at) const {
  const auto next = std::ranges::upper_bound(pieces_, at, {}, &Piece::at);
  if (next == pieces_.begin()) return std::nullopt;
  const Piece& piece = *std::prev(next);
  if (at - piece.at >= piece.size) return std::nullopt;
  return piece.from + (at - piece.at);
}

std::optional<std::uint32_t> Origins::of(ptx::Range where) const {
  if (const auto from = kept(where.end - 1)) return from;
  const auto next = std::ranges::lower_bound(pieces_, where.end, {}, &Piece::at);
  if (next == pieces_.begin() || std::prev(next)->at < where.begin) return std::nullopt;
  return std::prev(next)->from;
}

Rewritten apply(const ptx::Module& module, std::span<FunctionEdits> changes) {
  const bool marks_are_free = module.text->find(mark_begin) == std::string::npos;
  for (FunctionEdits& change : changes) {
    if (change.edits.empty()) continue;
    change.refused = marks_are_free ? why_unsafe_names(module, module.functions[change.function])
                                    : Why{Reason::unreadable, "the text has control characters"};
  }
  while (true) {
    std::vector<ptx::Edit> edits;
    for (const FunctionEdits& change : changes) {
      if (change.refused.empty()) std::ranges::copy(change.edits, std::back_inserter(edits));
    }
    NewText text = assemble(module, edits);
    if (edits.empty()) return {std::move(text.text), std::move(text.origins), {}};
    ptx::Module after = ptx::edited(module, text.edits).module;
    if (check(module, text, after, changes))
      return {std::move(text.text), std::move(text.origins), std::move(after)};
  }
}

std::string draft(const ptx::Module& module, std::span<const ptx::Edit> edits) {
  return assemble(module, edits).text;
}

} // namespace ptxasw::passes
