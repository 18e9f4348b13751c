// Do two kernels compute the same? Terms of both, side by side: what is loaded is the same where
// addresses are the same numbers, and so are functions of what is the same.
#pragma once

#include "passes/time_tile/polynomial/polynomial_reader.hpp"
#include "passes/time_tile/step/step_loops.hpp"

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ptxasw::passes {

// A load of an element, by its address.
struct LoadedFrom {
  IntegerPolynomialReader::Place place;
  ptx::Type type = ptx::Type::none;
};

// The terms of one kernel, and its numbers in words that both have.
struct ValueSide {
  using Said = std::function<std::optional<IntegerPolynomial>(const IntegerPolynomial&)>;
  using HandedOn = std::function<std::optional<LoadedFrom>(const sym::Atom&, Reading&)>;

  const emulator::Kernel& kernel;
  const StepPlaces& places;
  const IntegerPolynomialReader& reader;
  Choices choices = {};
  Said said = [](const IntegerPolynomial& whole) { return std::optional(whole); };
  Said ranges_said = {}; // of what a range is about, if that is said in other words
  // What a loop hands on, if that was loaded, in the kernel's own words.
  HandedOn handed_on = [](const sym::Atom&, Reading&) { return std::optional<LoadedFrom>(); };

  [[nodiscard]] std::optional<LoadedFrom> loaded(sym::Term t, Reading& reading) const;
  // By an instruction, in the kernel's own words.
  [[nodiscard]] std::optional<LoadedFrom> loaded_by(ptx::InstId inst, unsigned element,
                                                    Reading& reading) const;
  [[nodiscard]] std::optional<IntegerPolynomial> number(sym::Term t, Reading& reading) const;
  [[nodiscard]] std::optional<IntegerPolynomialReader::Place> place(sym::Term address,
                                                                    Reading& reading) const;
  // Of an equation, what is 0 where it holds, and nowhere else: modulo 2^32, or 2^64.
  [[nodiscard]] std::optional<IntegerPolynomial> zero_if_equal(sym::Term equation,
                                                               Reading& reading) const;

private:
  // The term, or what it is the lower bits of.
  [[nodiscard]] std::optional<IntegerPolynomial> low_bits(sym::Term t, Reading& reading) const;
};

class SameValues {
public:
  // Numbers that are 0 at no place that is asked about.
  using NeverZero = std::function<bool(const IntegerPolynomial&)>;
  SameValues(ValueSide a, ValueSide b, NeverZero never_zero)
      : a_(std::move(a)), b_(std::move(b)), never_zero_(std::move(never_zero)) {}

  bool same(sym::Term a, sym::Term b);
  bool same_address(sym::Term a, sym::Term b);

  // The side that the choices say.
  static sym::Term chosen(sym::Context& context, const Choices& choices, sym::Term t);

  // What that rests on, in words of both.
  std::vector<InRange> ranges;

private:
  using Ask = std::function<bool(Reading&, Reading&, bool& is_known)>;
  struct Literal {
    sym::Term term;
    bool negated = false;
  };
  bool compare(sym::Term a, sym::Term b);
  bool same_loads(sym::Term a, sym::Term b);
  bool same_in_order(sym::Term a, sym::Term b);
  bool same_in_any_order(std::vector<sym::Term> a, std::vector<sym::Term> b);
  bool same_sums(sym::Term a, sym::Term b);
  bool same_choices(sym::Term a, sym::Term b);
  bool same_condition(sym::Term a, sym::Term b, bool negated = false);
  bool same_literals(std::vector<Literal> a, std::vector<Literal> b);
  bool same_comparison(sym::Term a, sym::Term b);
  bool is_never_true(const ValueSide& of, const Literal& literal);
  bool same_numbers(sym::Term a, sym::Term b, bool& is_known);
  bool by_reading(const Ask& ask, bool& is_known);
  static void add_literals(const ValueSide& of, sym::Term t, bool negated,
                           std::vector<Literal>& all);
  void keep(const ValueSide& of, const Reading& reading);

  ValueSide a_, b_;
  NeverZero never_zero_;
  unsigned open_ = 0; // conditions of which one side is looked at
  bool is_said_ = true;
  std::map<std::pair<sym::Term, sym::Term>, bool> known_; // with the choices at hand
};

} // namespace ptxasw::passes
