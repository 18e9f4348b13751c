// The text of a kernel under construction, one statement a line, and its registers.
#pragma once

#include "simt/random.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::fuzz {

enum class Class : std::uint8_t { pred, b16, b32, f32, f64, b64 };

class Writer {
public:
  // Twice through the generator: its streams of neighbouring seeds must not be one stream, shifted.
  explicit Writer(std::uint64_t seed) : random_(simt::Random(seed).next()) {}

  template <class... Args> void line(fmt::format_string<Args...> form, Args&&... args) {
    body_ += fmt::format(form, std::forward<Args>(args)...);
    body_ += '\n';
  }
  std::string fresh(Class c) {
    const auto i = static_cast<std::size_t>(c);
    return fmt::format("{}{}", prefixes[i], ++counts_[i]);
  }
  std::string label() { return fmt::format("L{}", ++labels_); }

  // Dice.
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return random_.one_in(n); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  template <class T> T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }
  template <class T> const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

  [[nodiscard]] std::string declarations() const {
    std::string text;
    for (std::size_t i = 0; i < prefixes.size(); ++i)
      text += fmt::format(".reg {} {}<{}>;\n", types[i], prefixes[i], counts_[i] + 1);
    return text;
  }
  [[nodiscard]] const std::string& body() const { return body_; }

  static std::string_view type(Class c) { return types[static_cast<std::size_t>(c)]; }

private:
  static constexpr std::array<std::string_view, 6> prefixes{"%p", "%rs", "%r", "%f", "%fd", "%rd"};
  static constexpr std::array<std::string_view, 6> types{".pred", ".b16", ".b32",
                                                         ".f32",  ".f64", ".b64"};
  simt::Random random_;
  std::string body_;
  std::array<unsigned, 6> counts_{};
  unsigned labels_ = 0;
};

} // namespace ptxasw::fuzz
