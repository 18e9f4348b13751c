// The parser's loop: trivia, statement, trivia, statement. Each statement is one run of the grammar
// (grammar/ptx.hpp); scopes and functions are followed here, without recursion.
#include "ptx/parse.hpp"

#include "ptx/actions.hpp"
#include "ptx/recover.hpp"

#include <limits>

#include <fmt/format.h>

namespace ptxasw::ptx {

namespace {

using Input = tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy>;

class Reader {
public:
  explicit Reader(Module& module)
      : module_(module), text_(*module.text), input_(text_.data(), text_.size(), module.file),
        builder_(module) {}

  void read() {
    for (;;) {
      tao::pegtl::parse<grammar::trivia>(input_);
      if (input_.empty()) break;
      statement();
    }
    if (depth_ > 0) unclosed(offset());
  }

private:
  static constexpr std::uint32_t no_function = ~0U;

  [[nodiscard]] std::uint32_t offset() const {
    return static_cast<std::uint32_t>(input_.current() - text_.data());
  }

  void statement() {
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

  void opaque(Range range, Diagnostic diagnostic) {
    module_.statements.push_back({StatementKind::opaque, range, 0, 0});
    module_.diagnostics.push_back(std::move(diagnostic));
    if (function_ != no_function) module_.functions[function_].has_opaque = true;
    header_ = no_function;
  }

  // Keeps track of scopes and of the function that a statement stands in.
  void follow() {
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

  void name_variables(const Statement& statement) {
    for (std::uint32_t i = statement.index; i < statement.index + statement.count; ++i)
      if (module_.variables[i].range == 0)
        module_.globals.try_emplace(module_.variables[i].name, Global{false, i});
  }

  void open(std::uint32_t index) {
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

  void close(std::uint32_t index) {
    header_ = no_function;
    if (depth_ == 0) {
      Statement& last = module_.statements.back();
      last.kind = StatementKind::opaque;
      module_.diagnostics.push_back({Severity::error, last.range, "'}' without a '{' before it"});
      return;
    }
    if (--depth_ == 0) end_body(index + 1);
  }

  void end_body(std::uint32_t end) {
    if (function_ == no_function) return;
    Slice& body = module_.functions[function_].body;
    body.count = end - body.first;
    function_ = no_function;
  }

  void unclosed(std::uint32_t at, std::uint32_t end = no_function) {
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

  Module& module_;
  std::string_view text_;
  Input input_;
  Builder builder_;
  std::uint32_t depth_ = 0;              // open braces
  std::uint32_t function_ = no_function; // whose body is open
  std::uint32_t header_ = no_function;   // whose header was the last statement
};

// Measured on nvcc's output: bytes per element, with room to spare.
void reserve(Module& module) {
  const std::size_t size = module.text->size();
  module.statements.reserve(size / 24 + 16);
  module.instructions.reserve(size / 28 + 16);
  module.operands.reserve(size / 8 + 16);
  module.modifiers.reserve(size / 12 + 16);
}

} // namespace

Module parse(std::string text, std::string file) {
  Module module;
  module.text = std::make_shared<const std::string>(std::move(text));
  module.file = std::move(file);
  if (module.text->size() >= std::numeric_limits<std::uint32_t>::max()) {
    const Range all{0, std::numeric_limits<std::uint32_t>::max()};
    module.statements.push_back({StatementKind::opaque, all, 0, 0});
    module.diagnostics.push_back({Severity::error, {0, 0}, "texts of 4 GiB and more are not read"});
    return module;
  }
  module.lines = LineTable(*module.text);
  reserve(module);
  Reader(module).read();
  return module;
}

} // namespace ptxasw::ptx
