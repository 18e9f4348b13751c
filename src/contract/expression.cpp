// Words and values of an expression; its numbers have 128 bits, so that nothing wraps unseen.
#include "contract/expression.hpp"

#include "words/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ptxasw::contract {
namespace {

using TokenKind = Token::Kind;
using Type = Token::Type;

constexpr std::size_t most_tokens = 512;
constexpr Number too_large = Number{1} << 96; // twice that and products of two are left no room
constexpr std::string_view shared_word = "shared";
constexpr std::array<std::string_view, 4> types{"s32", "u32", "s64", "u64"};
constexpr std::array<std::pair<std::string_view, TokenKind>, 5> operators{
    {{"+", TokenKind::add},
     {"-", TokenKind::subtract},
     {"*", TokenKind::multiply},
     {"min", TokenKind::least},
     {"max", TokenKind::most}}};

Number wrapped(Number n, Type type) {
  const auto bits = static_cast<std::uint64_t>(n);
  switch (type) {
  case Type::s32: return static_cast<std::int32_t>(bits);
  case Type::u32: return static_cast<std::uint32_t>(bits);
  case Type::s64: return static_cast<std::int64_t>(bits);
  case Type::u64: return bits;
  }
  return n;
}

std::optional<Number> apply(TokenKind kind, Number a, Number b) {
  switch (kind) {
  case TokenKind::add: return a + b;
  case TokenKind::subtract: return a - b;
  case TokenKind::least: return std::min(a, b);
  case TokenKind::most: return std::max(a, b);
  case TokenKind::multiply:
    if (Number product = 0; !__builtin_mul_overflow(a, b, &product)) return product;
    return std::nullopt;
  default: return std::nullopt;
  }
}

bool is_operator(TokenKind kind) {
  return kind >= TokenKind::add && kind <= TokenKind::most;
}

std::optional<Type> to_type(std::string_view word) {
  const auto found = std::ranges::find(types, word);
  if (found == types.end()) return std::nullopt;
  return static_cast<Type>(found - types.begin());
}

std::optional<Token> to_token(std::string_view word) {
  if (word.empty()) return std::nullopt;
  for (const auto& [name, kind] : operators)
    if (word == name) return Token{.kind = kind};
  if (const auto type = to_type(word)) return Token{.kind = TokenKind::wrap, .as = *type};
  if (word == shared_word) return Token{.kind = TokenKind::shared};
  if (word.size() == 2 && (word[0] == 't' || word[0] == 'b')) {
    if (word[1] < 'x' || word[1] > 'z') return std::nullopt;
    return Token{.kind = word[0] == 't' ? TokenKind::threads : TokenKind::block,
                 .value = word[1] - 'x'};
  }
  if (word[0] != 'p') {
    const auto value = words::number<std::int64_t>(word);
    return value ? std::optional(Token{.value = *value}) : std::nullopt;
  }
  if (word.size() < 5) return std::nullopt;
  const auto part = to_part(word.substr(1, word.size() - 4));
  const auto type = to_type(word.substr(word.size() - 3));
  if (!part || !type) return std::nullopt;
  return Token{.kind = TokenKind::parameter, .as = *type, .value = *part};
}

std::string to_word(const Token& token) {
  std::string type(types.at(static_cast<std::size_t>(token.as)));
  const auto axis = [&] { return static_cast<char>('x' + token.value); };
  switch (token.kind) {
  case TokenKind::constant: return std::to_string(token.value);
  case TokenKind::parameter:
    return 'p' + contract::to_word(static_cast<unsigned>(token.value)) + type;
  case TokenKind::threads: return {'t', axis()};
  case TokenKind::block: return {'b', axis()};
  case TokenKind::shared: return std::string(shared_word);
  case TokenKind::wrap: return type;
  default:
    return std::string(
        operators
            .at(static_cast<std::size_t>(token.kind) - static_cast<std::size_t>(TokenKind::add))
            .first);
  }
}

} // namespace

std::string to_word(unsigned part) {
  const std::string number = std::to_string(number_of(part));
  return byte_of(part) == 0 ? number : number + '.' + std::to_string(byte_of(part));
}

std::optional<unsigned> to_part(std::string_view word) {
  const std::size_t point = std::min(word.find('.'), word.size());
  const bool is_whole = point == word.size();
  const auto number = words::number<std::int64_t>(word.substr(0, point));
  const auto byte = is_whole ? 0 : words::number<std::int64_t>(word.substr(point + 1));
  const auto is_small = [](const auto& n) { return n && *n >= 0 && *n <= 0xffff; };
  if (!is_small(number) || !is_small(byte) || (!is_whole && *byte == 0)) return std::nullopt;
  return part(static_cast<unsigned>(*number), static_cast<unsigned>(*byte));
}

std::optional<Number> evaluate(const Expression& expression, const Quantities& quantities) {
  std::vector<Number> stack;
  for (const Token& token : expression) {
    std::optional<Number> value;
    const auto axis = static_cast<std::size_t>(token.value);
    if (is_operator(token.kind)) {
      if (stack.size() < 2) return std::nullopt;
      const Number right = stack.back();
      stack.pop_back();
      value = apply(token.kind, stack.back(), right);
      stack.pop_back();
    } else if (token.kind == TokenKind::wrap) {
      if (stack.empty()) return std::nullopt;
      value = wrapped(stack.back(), token.as);
      stack.pop_back();
    } else if (token.kind == TokenKind::parameter) {
      if (const auto bits = quantities.parameter(static_cast<unsigned>(token.value)))
        value = wrapped(static_cast<Number>(*bits), token.as);
    } else if (token.kind == TokenKind::constant) {
      value = token.value;
    } else if (token.kind == TokenKind::shared) {
      value = quantities.shared;
    } else if (axis < 3) {
      value = (token.kind == TokenKind::threads ? quantities.threads : quantities.block)[axis];
    }
    if (!value || *value > too_large || *value < -too_large) return std::nullopt;
    stack.push_back(*value);
  }
  if (stack.size() != 1) return std::nullopt;
  return stack[0];
}

std::string to_word(const Expression& expression) {
  std::string word;
  for (const Token& token : expression)
    word += (word.empty() ? "" : ",") + to_word(token);
  return word;
}

std::optional<Expression> to_expression(std::string_view word) {
  Expression made;
  std::size_t depth = 0;
  for (bool more = true; more;) {
    const std::size_t comma = word.find(',');
    const auto token = to_token(word.substr(0, comma));
    if (!token || made.size() == most_tokens) return std::nullopt;
    if (is_operator(token->kind)) {
      if (depth < 2) return std::nullopt;
      --depth;
    } else if (token->kind == TokenKind::wrap) {
      if (depth < 1) return std::nullopt;
    } else {
      ++depth;
    }
    made.push_back(*token);
    more = comma != std::string_view::npos;
    if (more) word.remove_prefix(comma + 1);
  }
  if (depth != 1) return std::nullopt;
  return made;
}

} // namespace ptxasw::contract
