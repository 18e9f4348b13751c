// A hand-written reader: values are few and simple, and the lists can be long.
#include "simt/initializer.hpp"

#include "ptx/constant.hpp"

#include <bit>
#include <cctype>
#include <cstring>

namespace ptxasw::simt {

namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

class Reader {
public:
  Reader(std::string_view text, ptx::Type element, const AddressOf& address_of,
         std::vector<std::uint8_t>& bytes)
      : text_(text), element_(element), address_of_(address_of), bytes_(bytes) {}

  bool run() {
    int depth = 0;
    do {
      skip();
      if (take('{')) {
        ++depth;
        continue;
      }
      if (take('}')) {
        --depth;
      } else if (take(',')) {
        continue;
      } else if (!value()) {
        return false;
      }
    } while (depth > 0);
    skip();
    return at_ == text_.size();
  }

private:
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      else
        return;
    }
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && is_name_char(text_[at_]))
      ++at_;
    // 1.5e-3: a sign that belongs to the number
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+') && at_ > from &&
        (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E') && text_[from] != '0' &&
        std::isdigit(static_cast<unsigned char>(text_[from])) != 0) {
      ++at_;
      while (at_ < text_.size() && is_name_char(text_[at_]))
        ++at_;
    }
    return text_.substr(from, at_ - from);
  }

  bool value() {
    std::uint64_t sum = 0;
    bool negative = take('-');
    if (!negative) take('+');
    while (true) {
      const auto term = read_term(negative);
      if (!term) return false;
      sum = floating_ ? *term : sum + (negative ? 0 - *term : *term);
      if (floating_) break;
      if (take('+'))
        negative = false;
      else if (take('-'))
        negative = true;
      else
        break;
    }
    put(sum);
    return true;
  }

  std::optional<std::uint64_t> read_term(bool negative) {
    floating_ = false;
    const std::string_view w = word();
    if (w.empty()) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(w[0])) == 0) return name(w);
    const bool hex_float = w.size() > 1 && w[0] == '0' && std::strchr("fFdD", w[1]) != nullptr;
    const bool hex = w.size() > 1 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X');
    const bool decimal = !hex && w.find_first_of(".eE") != std::string_view::npos;
    if (hex_float || decimal || ptx::is_float(element_))
      return real(w, negative, hex_float || decimal);
    const std::uint64_t number = ptx::integer_constant(w).bits;
    if (!take('(')) return number;
    // mask(address): one byte, or another part, of an address
    const auto address = name(word());
    if (!address || !take(')') || number == 0) return std::nullopt;
    return (*address & number) >> std::countr_zero(number);
  }

  std::optional<std::uint64_t> name(std::string_view w) {
    if (w != "generic") return address_of_(w, false);
    if (!take('(')) return std::nullopt;
    const auto address = address_of_(word(), true);
    if (!take(')')) return std::nullopt;
    return address;
  }

  std::optional<std::uint64_t> real(std::string_view w, bool negative, bool has_point) {
    floating_ = true;
    double number = 0;
    if (has_point) {
      const ptx::Constant c = ptx::real_constant(w);
      if (c.kind == ptx::Constant::Kind::float32) {
        if (element_ != ptx::Type::f64) return c.bits ^ (negative ? 0x80000000U : 0U);
        number = std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
      } else {
        number = std::bit_cast<double>(c.bits);
      }
    } else {
      number = static_cast<double>(ptx::integer_constant(w).bits);
    }
    if (negative) number = -number;
    if (ptx::bit_width(element_) == 64) return std::bit_cast<std::uint64_t>(number);
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  }

  void put(std::uint64_t bits) {
    const std::size_t size = ptx::bit_width(element_) / 8;
    if (offset_ + size > bytes_.size()) return;
    std::memcpy(&bytes_[offset_], &bits, std::min<std::size_t>(size, 8));
    offset_ += size;
  }

  std::string_view text_;
  ptx::Type element_;
  const AddressOf& address_of_;
  std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0, offset_ = 0;
  bool floating_ = false;
};

} // namespace

bool read_initializer(std::string_view text, ptx::Type element, const AddressOf& address_of,
                      std::vector<std::uint8_t>& bytes) {
  return Reader(text, element, address_of, bytes).run();
}

std::string_view initializer_text(std::string_view declaration, std::string_view name) {
  std::size_t at = 0;
  while ((at = declaration.find(name, at)) != std::string_view::npos) {
    const std::size_t end = at + name.size();
    const bool whole = (at == 0 || !is_name_char(declaration[at - 1])) &&
                       (end == declaration.size() || !is_name_char(declaration[end]));
    if (whole) break;
    at = end;
  }
  if (at == std::string_view::npos) return {};
  int depth = 0;
  std::size_t begin = std::string_view::npos;
  for (at += name.size(); at < declaration.size(); ++at) {
    const char c = declaration[at];
    if (c == '=' && begin == std::string_view::npos) begin = at + 1;
    if (c == '{' || c == '(') ++depth;
    if (c == '}' || c == ')') --depth;
    if (depth == 0 && (c == ',' || c == ';')) break;
  }
  if (begin == std::string_view::npos) return {};
  return declaration.substr(begin, at - begin);
}

} // namespace ptxasw::simt
