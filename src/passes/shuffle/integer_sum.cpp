// Summands are taken largest coefficient first. What is left then spans little, so that only few
// values of each come into question.
#include "passes/shuffle/integer_sum.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

namespace ptxasw::passes {

namespace {

constexpr std::int64_t largest = std::int64_t{1} << 30;
constexpr unsigned most_tries = 1U << 12;

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

class Search {
public:
  Search(const IntegerSum& sum, Interval wanted)
      : sum_(sum), wanted_(wanted), rest_(sum.summands.size() + 1) {}

  // What the summands from each on can add up to. False: more than can be told.
  bool prepare() {
    if (std::abs(sum_.constant) > largest) return false;
    for (std::size_t n = sum_.summands.size(); n-- > 0;) {
      const auto& [coefficient, bounds, of_threads] = sum_.summands[n];
      if (std::abs(coefficient) > largest || std::abs(bounds.low) > largest ||
          std::abs(bounds.high) > largest)
        return false;
      const std::int64_t a = coefficient * bounds.low, b = coefficient * bounds.high;
      rest_[n] = {rest_[n + 1].low + std::min(a, b), rest_[n + 1].high + std::max(a, b)};
      if (rest_[n].low < -largest || rest_[n].high > largest) return false;
    }
    return true;
  }

  // With the first n summands chosen, which come to `so_far`.
  bool finds(std::size_t n, std::int64_t so_far, bool one_thread) {
    if (++tries_ > most_tries) return true;
    if (n == sum_.summands.size())
      return so_far >= wanted_.low && so_far <= wanted_.high && !(one_thread && sum_.tells_threads);
    const auto& [coefficient, bounds, of_threads] = sum_.summands[n];
    // wanted.low <= so_far + coefficient * v + what follows <= wanted.high
    const std::int64_t low = wanted_.low - so_far - rest_[n + 1].high,
                       high = wanted_.high - so_far - rest_[n + 1].low;
    const std::int64_t size = std::abs(coefficient);
    std::int64_t first = -floor_divided(-low, size), last = floor_divided(high, size);
    if (coefficient < 0) {
      std::swap(first, last);
      first = -first;
      last = -last;
    }
    first = std::max(first, bounds.low);
    last = std::min(last, bounds.high);
    for (std::int64_t v = first; v <= last; ++v)
      if (finds(n + 1, so_far + coefficient * v, one_thread && (!of_threads || v == 0)))
        return true;
    return false;
  }

private:
  const IntegerSum& sum_;
  Interval wanted_;
  std::vector<Interval> rest_;
  unsigned tries_ = 0;
};

} // namespace

bool may_be(IntegerSum sum, Interval wanted) {
  for (const Summand& s : sum.summands) {
    if (s.bounds.low > s.bounds.high) return false; // nobody gets there
    const bool one_thread = s.bounds.low == 0 && s.bounds.high == 0;
    if (s.coefficient == 0 && s.of_threads && !one_thread) sum.tells_threads = false;
  }
  std::erase_if(sum.summands, [](const Summand& s) { return s.coefficient == 0; });
  std::ranges::stable_sort(sum.summands, std::greater{},
                           [](const Summand& s) { return std::abs(s.coefficient); });
  Search search(sum, wanted);
  return !search.prepare() || search.finds(0, sum.constant, true);
}

} // namespace ptxasw::passes
