// The parser's loop over statements: follows scopes and functions while statements come, read from
// the text or known from elsewhere.
#pragma once

#include "ptx/actions.hpp"
#include "ptx/builder.hpp"

#include <string_view>

namespace ptxasw::ptx {

class Reader {
public:
  // The module has its text and nothing else.
  explicit Reader(Module& module);

  // Trivia and statements up to a place where nothing is cut in two; false where that is not so.
  bool read_to(std::uint32_t end);
  void read_all();
  // The next statement of the text is this one of another module, `moved` bytes further on; what it
  // consists of is copied.
  void take(const Module& from, const Statement& statement, std::int64_t moved);
  // There is no more text.
  void finish();

private:
  using Input = tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy>;
  static constexpr std::uint32_t no_function = ~0U;

  [[nodiscard]] std::uint32_t offset() const {
    return static_cast<std::uint32_t>(input_.current() - text_.data());
  }
  void statement();
  void opaque(Range range, Diagnostic diagnostic);
  void follow();
  void name_variables(const Statement& statement);
  void open(std::uint32_t index);
  void close(std::uint32_t index);
  void end_body(std::uint32_t end);
  void unclosed(std::uint32_t at, std::uint32_t end = no_function);

  Module& module_;
  std::string_view text_;
  Input input_;
  Builder builder_;
  std::uint32_t depth_ = 0;              // open braces
  std::uint32_t function_ = no_function; // whose body is open
  std::uint32_t header_ = no_function;   // whose header was the last statement
};

} // namespace ptxasw::ptx
