// Finds what a thread's number is divided by, and the guard that says how many rows there are.
#include "passes/time_tile/step/step_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ptxasw::passes {

using sym::Kind;
using sym::Term;

namespace {

constexpr Number most_threads = Number{1} << 31; // of a launch, along an axis (contract::fit)

class RowFinder {
public:
  RowFinder(emulator::Kernel& kernel, const StepRegion& region, const Meaning& meaning,
            const StepPlaces& places)
      : k_(kernel), c_(*kernel.context), region_(region), meaning_(meaning), places_(places) {}

  std::optional<FoundRows> run() {
    for (const emulator::Definition& definition : k_.trace.definitions)
      if (!definition.at_entry)
        add_divisors(places_.at(definition.value, k_.cfg.block_of[definition.inst]));
    for (const bool is_sum : {false, true}) // of sizes, as n - 2
      for (const IntegerPolynomial& length : lengths_)
        if (is_sum == (length.terms().size() != 1))
          if (auto found = with(length)) return found;
    return std::nullopt;
  }

private:
  struct Count {
    IntegerPolynomial rows;
    std::vector<InRange> ranges; // that this rests on
    bool all = false;
  };

  // What the number of the thread is divided by.
  void add_divisors(Term t) {
    const Kind kind = c_.kind(t);
    if (kind == Kind::ite) { // of a divisor that is zero something else is made
      for (const Term side : {c_.args(t)[1], c_.args(t)[2]})
        add_divisors(side);
      return;
    }
    const IntegerPolynomialReader reader(k_, meaning_);
    if (kind == Kind::zext || kind == Kind::sext || kind == Kind::extract) {
      Reading reading;
      const auto divided = reader.divided_by_number(t, reading);
      if (divided && divided->value == reader.thread(0) &&
          (divided->is_rest || divided->most >= most_threads - 1))
        add_length(IntegerPolynomial(divided->by));
      return;
    }
    if (kind == Kind::poly)
      for (const Term factor : std::vector(c_.args(t).begin(), c_.args(t).end()))
        add_divisors(factor);
    if ((kind != Kind::udiv && kind != Kind::sdiv && kind != Kind::urem && kind != Kind::srem) ||
        !is_number(reader, c_.args(t)[0]))
      return;
    Reading reading;
    const auto by = reader.read(c_.args(t)[1], reading);
    if (by && reading.ranges.empty() && *by == by->elsewhere() && !by->constant()) add_length(*by);
  }

  // Of the thread, which is below 2^31, however it is extended.
  static bool is_number(const IntegerPolynomialReader& reader, Term t) {
    Reading reading;
    return reader.read(t, reading) == reader.thread(0);
  }

  void add_length(IntegerPolynomial length) {
    if (std::ranges::find(lengths_, length) == lengths_.end())
      lengths_.push_back(std::move(length));
  }

  [[nodiscard]] std::optional<FoundRows> with(const IntegerPolynomial& length) {
    const IntegerPolynomialReader reader(k_, meaning_, length);
    for (std::size_t n = 0; n < region_.guards.size(); ++n) {
      const Term fact = k_.trace.entry_fact[region_.guards[n].to];
      if (!fact.valid()) continue;
      const Term guard = places_.at(fact, region_.guards[n].from);
      if (auto count = count_of(reader, guard)) return made_of(length, *std::move(count), n);
      if (c_.kind(guard) != Kind::and_) continue;
      for (const Term part : c_.args(guard))
        if (auto count = count_of(reader, part)) return made_of(length, *std::move(count), {});
    }
    auto count = count_of_all(reader, length);
    return count ? std::optional(made_of(length, *std::move(count), {})) : std::nullopt;
  }

  // Without a guard: what the number of a row is divided by, or one more than what it is compared
  // with, if there are no more threads.
  std::optional<Count> count_of_all(const IntegerPolynomialReader& reader,
                                    const IntegerPolynomial& length) {
    const IntegerPolynomial all(Quantity{.number = 0, .of = Quantity::Of::threads});
    for (const auto& find : {&RowFinder::divisor_of_row, &RowFinder::last_row})
      for (const emulator::Definition& definition : k_.trace.definitions) {
        if (definition.at_entry) continue;
        const Term t = places_.at(definition.value, k_.cfg.block_of[definition.inst]);
        const auto rows = (this->*find)(reader, t);
        if (rows)
          return Count{*rows,
                       {{all - length * *rows, -most_threads, 0, "some threads are no places"}},
                       true};
      }
    return std::nullopt;
  }

  std::optional<IntegerPolynomial> last_row(const IntegerPolynomialReader& reader, Term t) {
    if (const auto other = c_.negated(t)) return last_row(reader, *other);
    const Kind kind = c_.kind(t);
    if (kind != Kind::eq && kind != Kind::slt && kind != Kind::ult) return std::nullopt;
    Reading reading;
    const auto left = reader.read(c_.args(t)[0], reading),
               right = reader.read(c_.args(t)[1], reading);
    if (!left || !right) return std::nullopt;
    for (const IntegerPolynomial& difference : {*left - *right, *right - *left}) {
      const IntegerPolynomial last = difference + IntegerPolynomial::coordinate(1);
      if (last == last.elsewhere() && !last.constant()) return last + IntegerPolynomial(1);
    }
    return std::nullopt;
  }

  std::optional<IntegerPolynomial> divisor_of_row(const IntegerPolynomialReader& reader, Term t) {
    const Kind kind = c_.kind(t);
    const auto is_row = [](const IntegerPolynomial& value) {
      return (value - IntegerPolynomial::coordinate(1)).constant().has_value();
    };
    if (kind == Kind::poly || kind == Kind::ite) { // (of a divisor that is zero something else)
      for (const Term part : std::vector(c_.args(t).begin(), c_.args(t).end()))
        if (auto by = divisor_of_row(reader, part)) return by;
      return std::nullopt;
    }
    Reading reading;
    if (kind == Kind::urem || kind == Kind::srem) {
      const auto value = reader.read(c_.args(t)[0], reading);
      auto by = value ? reader.read(c_.args(t)[1], reading) : std::nullopt;
      const bool is_known =
          by && *by == by->elsewhere() && (is_row(*value) || is_row(*value - *by));
      return is_known ? by : std::nullopt;
    }
    if (kind != Kind::zext && kind != Kind::sext && kind != Kind::extract) return std::nullopt;
    const auto divided = reader.divided_by_number(t, reading);
    return divided && is_row(divided->value) && divided->by < most_threads
               ? std::optional(IntegerPolynomial(divided->by))
               : std::nullopt;
  }

  // What hangs on places holds for all of them; what does not is asked of the launch.
  static FoundRows made_of(const IntegerPolynomial& length, Count count,
                           std::optional<std::size_t> guard) {
    std::erase_if(count.ranges,
                  [](const InRange& range) { return range.value != range.value.elsewhere(); });
    return {{.length = length, .count = std::move(count.rows), .all = count.all, .numbers = {}},
            guard,
            std::move(count.ranges)};
  }

  // y < count, and that for all threads of the launch, those behind the last row as well.
  std::optional<Count> count_of(const IntegerPolynomialReader& reader, Term condition) {
    const auto ways = split(reader, c_, condition, true);
    if (!ways || ways->size() != 1) return std::nullopt;
    const Bounded& way = (*ways)[0];
    if (way.bounds.size() != 1 || !way.edges.empty() || way.bounds[0].axis != 1 ||
        !way.bounds[0].below || !hold_for_all(reader, way.ranges))
      return std::nullopt;
    return Count{.rows = way.bounds[0].at, .ranges = way.ranges};
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  const StepRegion& region_;
  const Meaning& meaning_;
  const StepPlaces& places_;
  std::vector<IntegerPolynomial> lengths_;
};

} // namespace

std::optional<FoundRows> find_rows(emulator::Kernel& kernel, const StepRegion& region,
                                   const Meaning& meaning, const StepPlaces& places) {
  return RowFinder(kernel, region, meaning, places).run();
}

// What hangs on the place is the number of the thread or of its row, or a little less.
bool hold_for_all(const IntegerPolynomialReader& reader, const std::vector<InRange>& ranges) {
  const auto y = IntegerPolynomial::coordinate(1);
  return std::ranges::all_of(ranges, [&](const InRange& range) {
    if (range.value == range.value.elsewhere()) return true; // looked at for each launch
    for (const IntegerPolynomial& number : {reader.thread(0), y})
      if (const auto far = (range.value - number).constant();
          far && *far <= 0 && *far >= range.least && range.most >= most_threads - 1)
        return true;
    return false;
  });
}

} // namespace ptxasw::passes
