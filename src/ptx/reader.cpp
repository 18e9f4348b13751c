// Trivia, statement, trivia, statement. Each statement is one run of the grammar (grammar/ptx.hpp)
// or a copy of one that was read before; scopes and functions are followed here, without recursion.
#include "ptx/reader.hpp"

#include "ptx/recover.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptxasw::ptx {
namespace {

// Copies parts of a module into another one, whose text has them somewhere else.
class Copier {
public:
  Copier(const Module& from, Module& to, std::int64_t moved)
      : from_(from), to_(to), moved_(moved) {}

  [[nodiscard]] Range operator()(Range range) const {
    return {static_cast<std::uint32_t>(range.begin + moved_),
            static_cast<std::uint32_t>(range.end + moved_)};
  }
  [[nodiscard]] std::string_view operator()(std::string_view text) const {
    if (text.empty()) return {};
    return {to_.text->data() + (text.data() - from_.text->data()) + moved_, text.size()};
  }
  [[nodiscard]] Variable operator()(Variable variable) const {
    variable.name = (*this)(variable.name);
    return variable;
  }

  // Children first, as they are read: those of one operand stand next to each other.
  [[nodiscard]] Slice operands(Slice slice) const {
    std::vector<Operand> made;
    for (std::uint32_t n = 0; n < slice.count; ++n) {
      Operand operand = from_.operands[slice.first + n];
      operand.range = (*this)(operand.range);
      operand.text = (*this)(operand.text);
      if (operand.children.count != 0) operand.children = operands(operand.children);
      made.push_back(operand);
    }
    const auto first = static_cast<std::uint32_t>(to_.operands.size());
    to_.operands.insert(to_.operands.end(), made.begin(), made.end());
    return {first, slice.count};
  }

  [[nodiscard]] Instruction operator()(Instruction instruction) const {
    instruction.mnemonic = (*this)(instruction.mnemonic);
    const auto modifiers = static_cast<std::uint32_t>(to_.modifiers.size());
    for (const std::string_view modifier : from_.modifiers_of(instruction))
      to_.modifiers.push_back((*this)(modifier));
    instruction.modifiers.first = modifiers;
    instruction.operands = operands(instruction.operands);
    instruction.guard.predicate = (*this)(instruction.guard.predicate);
    return instruction;
  }

  [[nodiscard]] Prototype operator()(Prototype prototype) const {
    prototype.label = (*this)(prototype.label);
    prototype.directive = (*this)(prototype.directive);
    prototype.names = operands(prototype.names);
    return prototype;
  }

  // As a header leaves it: its body opens later.
  [[nodiscard]] Function operator()(Function function) const {
    function.name = (*this)(function.name);
    for (std::vector<Variable>* all : {&function.returns, &function.parameters})
      for (Variable& variable : *all)
        variable = (*this)(variable);
    function.is_declaration = true;
    function.body = {};
    function.has_opaque = false;
    return function;
  }

private:
  const Module& from_;
  Module& to_;
  std::int64_t moved_;
};

// Puts one more into a pool, and says where it stands.
template <class T> std::uint32_t add(std::vector<T>& pool, T one) {
  pool.push_back(std::move(one));
  return static_cast<std::uint32_t>(pool.size() - 1);
}

} // namespace

Reader::Reader(Module& module)
    : module_(module), text_(*module.text), input_(text_.data(), text_.size(), module.file),
      builder_(module) {}

void Reader::read_all() {
  for (;;) {
    tao::pegtl::parse<grammar::trivia>(input_);
    if (input_.empty()) break;
    statement();
  }
  finish();
}

bool Reader::read_to(std::uint32_t end) {
  for (;;) {
    tao::pegtl::parse<grammar::trivia>(input_);
    if (offset() >= end) return offset() == end;
    if (input_.empty()) return false;
    statement();
  }
}

void Reader::finish() {
  if (depth_ > 0) unclosed(static_cast<std::uint32_t>(text_.size()));
}

void Reader::take(const Module& from, const Statement& statement, std::int64_t moved) {
  const Copier copy(from, module_, moved);
  Statement made = statement;
  made.range = copy(statement.range);
  input_.bump(made.range.end - offset());
  switch (statement.kind) {
  case StatementKind::instruction:
    made.index = add(module_.instructions, copy(from.instructions[statement.index]));
    break;
  case StatementKind::variable:
    made.index = static_cast<std::uint32_t>(module_.variables.size());
    for (std::uint32_t n = 0; n < statement.count; ++n)
      module_.variables.push_back(copy(from.variables[statement.index + n]));
    break;
  case StatementKind::label:
    made.index = add(module_.labels, copy(from.labels[statement.index]));
    break;
  case StatementKind::function:
    made.index = add(module_.functions, copy(from.functions[statement.index]));
    break;
  case StatementKind::location:
    made.index = add(module_.locations, from.locations[statement.index]);
    break;
  case StatementKind::prototype:
    made.index = add(module_.prototypes, copy(from.prototypes[statement.index]));
    break;
  default: break;
  }
  module_.statements.push_back(made);
  follow();
}

void Reader::statement() {
  const std::uint32_t begin = offset();
  builder_.begin();
  if (tao::pegtl::parse<grammar::statement, Action>(input_, builder_)) {
    module_.statements.push_back(
        {builder_.kind(), {begin, offset()}, builder_.index(), builder_.count()});
    follow();
  } else {
    builder_.rollback();
    Unreadable unreadable = examine(text_, begin);
    opaque(unreadable.range, std::move(unreadable.diagnostic));
    input_.bump(unreadable.range.size());
  }
}

void Reader::opaque(Range range, Diagnostic diagnostic) {
  module_.statements.push_back({StatementKind::opaque, range, 0, 0});
  module_.diagnostics.push_back(std::move(diagnostic));
  if (function_ != no_function) module_.functions[function_].has_opaque = true;
  header_ = no_function;
}

// Keeps track of scopes and of the function that a statement stands in.
void Reader::follow() {
  Statement& last = module_.statements.back();
  const auto index = static_cast<std::uint32_t>(module_.statements.size() - 1);
  switch (last.kind) {
  case StatementKind::function:
    header_ = last.index;
    module_.functions[header_].statement = index;
    module_.globals.try_emplace(module_.functions[header_].name, Global{true, header_});
    break;
  case StatementKind::variable:
    header_ = no_function;
    if (depth_ == 0) name_variables(last);
    break;
  case StatementKind::scope_open: open(index); break;
  case StatementKind::scope_close: close(index); break;
  default: header_ = no_function; break;
  }
}

void Reader::name_variables(const Statement& statement) {
  for (std::uint32_t i = statement.index; i < statement.index + statement.count; ++i)
    if (module_.variables[i].range == 0)
      module_.globals.try_emplace(module_.variables[i].name, Global{false, i});
}

void Reader::open(std::uint32_t index) {
  if (header_ != no_function) {
    // A header inside a body: a closing brace went missing before it.
    const Function& header = module_.functions[header_];
    if (depth_ > 0) unclosed(module_.statements[header.statement].range.begin, header.statement);
    function_ = header_;
    module_.functions[function_].is_declaration = false;
    module_.globals.insert_or_assign(header.name, Global{true, function_});
    module_.functions[function_].body.first = index;
    header_ = no_function;
  }
  ++depth_;
}

void Reader::close(std::uint32_t index) {
  header_ = no_function;
  if (depth_ == 0) {
    Statement& last = module_.statements.back();
    last.kind = StatementKind::opaque;
    module_.diagnostics.push_back({Severity::error, last.range, "'}' without a '{' before it"});
    return;
  }
  if (--depth_ == 0) end_body(index + 1);
}

void Reader::end_body(std::uint32_t end) {
  if (function_ == no_function) return;
  Slice& body = module_.functions[function_].body;
  body.count = end - body.first;
  function_ = no_function;
}

void Reader::unclosed(std::uint32_t at, std::uint32_t end) {
  std::string message = "expected '}'";
  if (function_ != no_function) {
    Function& function = module_.functions[function_];
    function.has_opaque = true;
    message += fmt::format(" to close the body of '{}'", function.name);
  }
  module_.diagnostics.push_back({Severity::error, {at, at}, std::move(message)});
  end_body(end != no_function ? end : static_cast<std::uint32_t>(module_.statements.size()));
  depth_ = 0;
}

} // namespace ptxasw::ptx
