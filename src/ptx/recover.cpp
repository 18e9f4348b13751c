// Error messages come from a second run of the grammar over the statement, without actions, that
// notes how far it got and which tokens could have gone on there. Then a scan finds the next
// statement; it starts where the grammar stopped, so that reading a text stays linear.
#include "ptx/recover.hpp"

#include "ptx/isa.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <ptx.hpp>

namespace ptxasw::ptx {

namespace {

// Names of tokens for messages; rules without one are not mentioned.
template <typename Rule> inline constexpr std::string_view label{};
template <> inline constexpr std::string_view label<grammar::comma> = "','";
template <> inline constexpr std::string_view label<grammar::semicolon> = "';'";
template <> inline constexpr std::string_view label<grammar::address_close> = "']'";
template <> inline constexpr std::string_view label<grammar::dimension_close> = "']'";
template <> inline constexpr std::string_view label<grammar::vector_close> = "'}'";
template <> inline constexpr std::string_view label<grammar::list_close> = "')'";
template <> inline constexpr std::string_view label<grammar::string> = "a string";
template <> inline constexpr std::string_view label<grammar::address_bits> = "a number";
template <> inline constexpr std::string_view label<grammar::integer_literal> = "an operand";
template <> inline constexpr std::string_view label<grammar::symbol_name> = "an operand";
template <> inline constexpr std::string_view label<grammar::guard_name> = "a predicate register";
template <> inline constexpr std::string_view label<grammar::opcode> = "an instruction";
template <> inline constexpr std::string_view label<grammar::declared_name> = "a name";
template <> inline constexpr std::string_view label<grammar::function_name> = "a function name";
template <> inline constexpr std::string_view label<grammar::parameter_space> = "a parameter";
template <> inline constexpr std::string_view label<grammar::function_end> = "'{' or ';'";
template <> inline constexpr std::string_view label<grammar::target_name> = "a label or function";
template <> inline constexpr std::string_view label<grammar::location_part> = "a number";
template <> inline constexpr std::string_view label<grammar::file_number> = "a number";

// The furthest place that any rule reached, and the furthest at which a named token was missing.
struct Trace {
  const char* furthest = nullptr;
  const char* named = nullptr;
  std::vector<std::string_view> expected;

  void failed(const char* at, std::string_view what) {
    furthest = std::max(furthest, at);
    if (what.empty() || at < named) return;
    if (at > named) expected.clear();
    named = at;
    if (std::ranges::find(expected, what) == expected.end()) expected.push_back(what);
  }
};

template <typename Rule> struct Tracing : tao::pegtl::normal<Rule> {
  template <typename Input> static void failure(const Input& in, Trace& trace) {
    trace.failed(in.current(), label<Rule>);
  }
};

constexpr auto directives = std::to_array<std::string_view>(
    {".reg",    ".loc",    ".file",   ".section", ".visible", ".entry", ".func",
     ".extern", ".weak",   ".common", ".global",  ".shared",  ".local", ".const",
     ".param",  ".pragma", ".tex",    ".version", ".target",  ".alias", ".address_size"});

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end < text.size() && (text[end] == '.' || text[end] == '%')) ++end;
  while (end < text.size() && grammar::is_name_char(text[end]))
    ++end;
  return text.substr(at, end - at);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Whether a line that begins with the token at `at` looks like a statement of its own.
bool starts_statement(std::string_view text, std::size_t at) {
  if (at >= text.size()) return true;
  if (text[at] == '@' || text[at] == '#') return true;
  const std::string_view word = word_at(text, at);
  if (word.empty()) return false;
  if (word[0] == '.') return std::ranges::find(directives, word) != directives.end();
  if (find_op(word) != Op::unknown) return true;
  std::size_t next = at + word.size();
  while (next < text.size() && is_blank(text[next]))
    ++next;
  return next < text.size() && text[next] == ':';
}

// Walks over an unreadable statement: strings, comments and brackets as units.
class Scanner {
public:
  Scanner(std::string_view text, std::size_t begin, std::size_t failed)
      : text_(text), at_(begin), begin_(begin), failed_(std::max(failed, begin + 1)),
        header_(is_header()), section_(word_at(text, begin) == ".section") {}

  std::size_t end() {
    while (at_ < text_.size())
      if (step()) break;
    return trimmed();
  }

private:
  // Function headers end before their body.
  [[nodiscard]] bool is_header() const {
    const std::string_view line = text_.substr(begin_, 256);
    for (const std::string_view word : {".entry", ".func"})
      if (const auto found = line.find(word);
          found != std::string_view::npos &&
          line.substr(0, found).find_first_of("{};,(") == std::string_view::npos)
        return true;
    return false;
  }

  [[nodiscard]] bool ahead(std::string_view what) const {
    return text_.substr(at_).starts_with(what);
  }

  // One unit forward; true at the end of the statement.
  bool step() {
    if (ahead("//")) return skip_to(text_.find('\n', at_));
    if (ahead("/*")) return skip_past(text_.find("*/", at_ + 2), 2);
    switch (text_[at_]) {
    case '"': return string();
    case ';': ++at_; return at_ > failed_;
    case '{':
      if (header_ && at_ > begin_) return true;
      ++braces_;
      break;
    case '}':
      if (braces_ == 0 && at_ > begin_) return true;
      if (braces_ > 0) --braces_;
      if (braces_ == 0 && section_ && at_ >= failed_) return skip_past(at_, 1), true;
      break;
    case '(': ++parentheses_; break;
    case ')': parentheses_ -= parentheses_ > 0 ? 1 : 0; break;
    case '\n': return line_end();
    default: break;
    }
    ++at_;
    return false;
  }

  bool skip_to(std::size_t where) {
    at_ = std::min(where, text_.size());
    return false;
  }
  bool skip_past(std::size_t where, std::size_t length) {
    return skip_to(where == std::string_view::npos ? where : where + length);
  }

  bool string() {
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n')
      ++at_;
    else
      at_ = end + 1;
    return false;
  }

  bool line_end() {
    while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n'))
      ++at_;
    return at_ >= failed_ && braces_ == 0 && parentheses_ == 0 && starts_statement(text_, at_);
  }

  [[nodiscard]] std::size_t trimmed() const {
    std::size_t end = at_;
    while (end > begin_ + 1 && (is_blank(text_[end - 1]) || text_[end - 1] == '\n'))
      --end;
    return end;
  }

  std::string_view text_;
  std::size_t at_, begin_, failed_;
  bool header_, section_;
  unsigned braces_ = 0, parentheses_ = 0;
};

std::string found_token(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "the end of the text";
  if (text[at] == '\n' || text[at] == '\r') return "the end of the line";
  const std::string_view word = word_at(text, at);
  if (word.empty()) {
    const char c = text[at];
    return c >= ' ' && c <= '~' ? fmt::format("'{}'", c)
                                : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }
  constexpr std::size_t longest = 40;
  return fmt::format("'{}{}'", word.substr(0, longest), word.size() > longest ? "..." : "");
}

std::string message(std::string_view text, std::size_t begin, std::size_t at,
                    const std::vector<std::string_view>& expected) {
  if (text.substr(at).starts_with("/*")) return "comment without its end";
  const std::string found = found_token(text, at);
  if (at == begin)
    return text[at] == '.' ? fmt::format("unknown directive {}", found)
                           : fmt::format("expected a statement, found {}", found);
  if (expected.empty()) return fmt::format("unexpected {}", found);
  std::string list(expected.front());
  for (std::size_t i = 1; i < expected.size(); ++i)
    list += fmt::format("{}{}", i + 1 == expected.size() ? " or " : ", ", expected[i]);
  return fmt::format("expected {}, found {}", list, found);
}

} // namespace

Unreadable examine(std::string_view text, std::uint32_t begin) {
  tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy> input(text.data() + begin,
                                                                  text.data() + text.size(), "");
  Trace trace;
  trace.furthest = trace.named = text.data() + begin;
  tao::pegtl::parse<grammar::statement, tao::pegtl::nothing, Tracing>(input, trace);
  const auto failed = static_cast<std::size_t>(trace.furthest - text.data());
  const std::size_t end = Scanner(text, begin, failed).end();
  // Nothing named behind the first token: the place itself must do.
  const auto named = static_cast<std::size_t>(trace.named - text.data());
  const std::size_t at = named == begin ? failed : named;
  if (named == begin) trace.expected.clear();
  const auto offset = static_cast<std::uint32_t>(at);
  return {{begin, static_cast<std::uint32_t>(end)},
          {Severity::error, {offset, offset}, message(text, begin, at, trace.expected)}};
}

} // namespace ptxasw::ptx
