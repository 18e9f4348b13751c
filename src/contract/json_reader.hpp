// Reads JSON that may be anybody's: each value is looked at before it is taken. One that is missing
// or of another kind leaves a value of no meaning and makes the whole unreadable.
#pragma once

#include "words/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace ptxasw {

using Json = nlohmann::ordered_json;

// On one line, the same bytes for the same value; of a name that is no UTF-8 what can be said.
inline std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// 16 digits: numbers of 64 bits are not what every reader of JSON can keep.
inline std::string hexadecimal(std::uint64_t n) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(n));
  return text.data();
}

class JsonReader {
public:
  [[nodiscard]] bool is_broken() const { return broken_; }
  void require(bool holds) { broken_ |= !holds; }

  static bool has(const Json& from, const char* key) {
    return from.is_object() && from.contains(key);
  }
  const Json& member(const Json& from, const char* key) {
    return has(from, key) ? *from.find(key) : otherwise(nullptr);
  }
  const Json& object(const Json& from, const char* key) {
    const Json& found = member(from, key);
    require(found.is_object());
    return found;
  }
  const Json& elements(const Json& found) {
    return found.is_array() ? found : otherwise(Json::array());
  }
  const Json& list(const Json& from, const char* key) { return elements(member(from, key)); }
  // Of a list of so many.
  const Json& tuple(const Json& found, std::size_t size) {
    require(found.is_array() && found.size() == size);
    return elements(found);
  }
  // Of a tuple.
  const Json& at(const Json& list, std::size_t n) {
    return list.is_array() && n < list.size() ? list[n] : otherwise(nullptr);
  }

  std::string text(const Json& found) {
    return found.is_string() ? found.get<std::string>() : (broken_ = true, "");
  }
  std::string text(const Json& from, const char* key) { return text(member(from, key)); }
  std::uint64_t hash(const Json& from, const char* key) {
    const std::string word = text(from, key);
    const auto value = words::number<std::uint64_t>(word, 16);
    require(word.size() == 16 && value);
    return value.value_or(0);
  }
  template <std::integral Number> Number whole(const Json& found) {
    const bool fits =
        found.is_number_unsigned()
            ? std::in_range<Number>(found.get<std::uint64_t>())
            : found.is_number_integer() && std::in_range<Number>(found.get<std::int64_t>());
    return fits ? found.get<Number>() : (broken_ = true, Number{});
  }
  template <std::integral Number> Number number(const Json& from, const char* key) {
    return whole<Number>(member(from, key));
  }
  template <std::integral Number> Number between(const Json& found, Number least, Number most) {
    const auto value = whole<Number>(found);
    require(value >= least && value <= most);
    return value;
  }
  // Not below 0.
  double real(const Json& found) {
    const double value = found.is_number() ? found.get<double>() : -1;
    return value >= 0 ? value : (broken_ = true, 0);
  }
  double real(const Json& from, const char* key) { return real(member(from, key)); }
  std::array<unsigned, 3> sizes(const Json& from, const char* key) {
    const Json& all = tuple(member(from, key), 3);
    std::array<unsigned, 3> result{1, 1, 1};
    for (std::size_t n = 0; n < std::min(all.size(), result.size()); ++n)
      result.at(n) = whole<unsigned>(all[n]);
    return result;
  }

private:
  const Json& otherwise(Json value) {
    broken_ = true;
    none_ = std::move(value);
    return none_;
  }

  bool broken_ = false;
  Json none_;
};

} // namespace ptxasw
