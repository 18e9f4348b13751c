// A polynomial over the whole numbers: products of symbols and how often each is there.
//
// A coefficient beyond 2^64 stays there, and the polynomial is marked as too large from then on.
#pragma once

#include "symbolic/term.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace ptxasw::sym {

// Of the class `Self` that derives from it.
template <class Self, class Symbol> class SumOfProducts {
public:
  using Product = std::vector<Symbol>; // sorted; empty: the constant
  using Terms = std::map<Product, SBits>;

  SumOfProducts() = default;
  SumOfProducts(SBits constant) { add({}, constant); } // NOLINT(google-explicit-constructor)
  explicit SumOfProducts(const Symbol& symbol) { add({symbol}, 1); }

  void add(const Product& product, SBits coefficient) {
    SBits& sum = terms_[product];
    if (__builtin_add_overflow(sum, coefficient, &sum) || sum > largest || sum < -largest) {
      sum = coefficient < 0 ? -largest : largest;
      too_large_ = true;
    }
    if (sum == 0) terms_.erase(product);
  }

  friend Self operator+(Self a, const Self& b) {
    a.too_large_ |= b.too_large_;
    for (const auto& [product, coefficient] : b.terms_)
      a.add(product, coefficient);
    return a;
  }
  friend Self operator-(const Self& a, const Self& b) { return a + b * Self(-1); }
  friend Self operator*(const Self& a, const Self& b) {
    Self result;
    result.too_large_ = a.too_large_ || b.too_large_;
    for (const auto& [left, m] : a.terms_) {
      for (const auto& [right, n] : b.terms_) {
        Product product;
        std::ranges::merge(left, right, std::back_inserter(product));
        SBits coefficient = 0;
        if (__builtin_mul_overflow(m, n, &coefficient)) {
          coefficient = (m < 0) == (n < 0) ? largest : -largest;
          result.too_large_ = true;
        }
        result.add(product, coefficient);
      }
    }
    return result;
  }
  friend bool operator==(const SumOfProducts& a, const SumOfProducts& b) = default;

  // None: something is left. Long division, by what leads in an order that products keep.
  friend std::optional<Self> quotient(const Self& what, const Self& by) {
    if (by.terms_.empty()) return std::nullopt;
    Self result, left = what;
    result.too_large_ = what.too_large_ || by.too_large_;
    const auto& [product, coefficient] = by.leading();
    while (!left.terms_.empty()) {
      const auto [factors, n] = left.leading();
      if (n % coefficient != 0 || !std::ranges::includes(factors, product)) return std::nullopt;
      Self term;
      Product rest;
      std::ranges::set_difference(factors, product, std::back_inserter(rest));
      term.add(rest, n / coefficient);
      result = result + term;
      left = left - term * by;
      if (left.too_large_ && !what.too_large_) return std::nullopt;
    }
    return result;
  }

  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] bool is_zero() const { return terms_.empty() && !too_large_; }
  [[nodiscard]] std::optional<SBits> constant() const {
    if (terms_.empty()) return 0;
    if (terms_.size() > 1 || !terms_.begin()->first.empty()) return std::nullopt;
    return terms_.begin()->second;
  }
  // The polynomial is of no use.
  [[nodiscard]] bool too_large() const { return too_large_; }

protected:
  bool too_large_ = false;

private:
  static constexpr SBits largest = SBits{1} << 64;

  // The longest product, of these the last.
  [[nodiscard]] const typename Terms::value_type& leading() const {
    return *std::ranges::max_element(terms_, [](const auto& a, const auto& b) {
      return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
    });
  }

  Terms terms_;
};

} // namespace ptxasw::sym
