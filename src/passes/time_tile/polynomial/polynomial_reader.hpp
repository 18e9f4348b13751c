// Whole numbers behind terms: what an address or an index is over the integers, as long as nothing
// wraps.
//
// A term is exact modulo 2^width, and says with an extension that a sum of 32 bits becomes one of
// 64. Read over the integers it is a polynomial of the thread's coordinates and the kernel's
// parameters; that the two agree hangs on ranges (the sum did not wrap), which are listed, and are
// checked for each launch where parameters are numbers (contract/expression.hpp). So nothing about
// products of unknowns has to be proven beforehand.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/time_tile/polynomial/integer_polynomial.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::passes {

struct InRange {
  IntegerPolynomial value;
  Number least = 0, most = 0;
  const char* otherwise = "an index wraps";
};

// Which side of a choice is read, by its condition.
using Choices = std::map<sym::Term, bool>;

// What a number that was read rests on.
struct Reading {
  std::vector<InRange> ranges;
  const Choices* choices = nullptr;
  sym::Term open; // a condition that has to be among the choices first
  // Choices and quotients in one another, of which both sides, or two readings, are looked at.
  unsigned depth = 0;
};

// A product of numbers of blocks and of their threads that is a number of places.
struct LaunchSize {
  IntegerPolynomial asked, is;
  unsigned axis = 0; // that has so many places
};

// What is meant by what the terms of a kernel have.
struct Meaning {
  std::unordered_map<std::uint32_t, unsigned> axes; // atoms that stand for the thread's coordinates
  std::map<unsigned, unsigned> equal; // parts of parameters that are meant to be equal to others
  std::map<unsigned, std::uint32_t> loops; // by axis: with which threads walk along it
  std::map<unsigned, std::uint32_t> sizes; // of blocks, by axis, that the launch has to have
  bool in_line = false; // that of x stands for the number of a thread of several axes
  // Sizes that the kernel asks the launch for.
  std::vector<LaunchSize> extents;
};

// The number of `width` bits, signed.
inline Number signed_value(sym::Bits bits, unsigned width) {
  const sym::Bits sign = sym::Bits{1} << (width - 1);
  return static_cast<Number>((bits ^ sign)) - static_cast<Number>(sign);
}

// Less than 0, as it seems: what is the longest product in it multiplied with? What the number is
// that places have in common.
bool seems_negative(const IntegerPolynomial& whole);

// value / by or value % by, as compilers write it where `by` is a number: with shifts, masks and
// products. Quotients are those of 0 <= value <= most.
struct DividedByNumber {
  IntegerPolynomial value;
  Number by = 0, most = 0;
  bool is_rest = false;
};

class IntegerPolynomialReader {
public:
  // `row`: the atom of x stands for the number of the thread, of places that lie row by row: it is
  // y * row + x, where 0 <= x < row and 0 <= y. None: it stands for x.
  IntegerPolynomialReader(const emulator::Kernel& kernel, Meaning meaning,
                          std::optional<IntegerPolynomial> row = std::nullopt)
      : k_(kernel), c_(*kernel.context), meaning_(std::move(meaning)), row_(std::move(row)) {}

  // What an axis' atom stands for.
  [[nodiscard]] IntegerPolynomial thread(unsigned axis) const;
  [[nodiscard]] const std::optional<IntegerPolynomial>& row() const { return row_; }
  [[nodiscard]] const std::vector<LaunchSize>& extents() const { return meaning_.extents; }
  [[nodiscard]] bool is_axis(sym::Term atom) const { return meaning_.axes.contains(atom.id); }
  // May differ from place to place.
  [[nodiscard]] bool moves(sym::Term t) const;

  // A number that is the term modulo 2^width, if the ranges added to `reading` hold.
  [[nodiscard]] std::optional<IntegerPolynomial> read(sym::Term t, Reading& reading) const;

  // A number that is less than 0 where the term is, with its sign.
  [[nodiscard]] std::optional<IntegerPolynomial> like_in_sign(sym::Term t, Reading& reading) const;

  // Of an extract, or of one that is extended.
  [[nodiscard]] std::optional<DividedByNumber> divided_by_number(sym::Term t,
                                                                 Reading& reading) const;

  // A pointer that is a parameter, or part of one, and the distance from it.
  struct Place {
    unsigned parameter = 0;
    IntegerPolynomial offset;
  };
  [[nodiscard]] std::optional<Place> place(sym::Term address, Reading& reading) const;

  // The very number that a term without coordinates is, signed or not: wraps where the term wraps.
  [[nodiscard]] std::optional<contract::Expression> machine(sym::Term t, bool is_signed) const;

private:
  [[nodiscard]] std::optional<unsigned> parameter_of(sym::Term atom) const;
  [[nodiscard]] std::optional<unsigned> pointer_of(sym::Term atom) const;
  [[nodiscard]] std::optional<IntegerPolynomial> atom(sym::Term t) const;
  [[nodiscard]] std::optional<IntegerPolynomial> special(const sym::Atom& info) const;
  [[nodiscard]] std::optional<IntegerPolynomial> sum(sym::Term t, Reading& reading) const;
  [[nodiscard]] IntegerPolynomial with_extents(IntegerPolynomial whole) const;
  [[nodiscard]] std::optional<IntegerPolynomial> extended(sym::Term t, Reading& reading) const;
  // Which side of a choice is read; or the condition is open.
  static std::optional<bool> side_of(sym::Term condition, Reading& reading);
  [[nodiscard]] std::optional<IntegerPolynomial> chosen(sym::Term t, Reading& reading) const;
  [[nodiscard]] std::optional<IntegerPolynomial> divided_alike(sym::Term t, Reading& reading) const;
  [[nodiscard]] std::optional<IntegerPolynomial> masked(sym::Term t, Reading& reading) const;
  [[nodiscard]] bool is_by_condition(sym::Term t) const;
  [[nodiscard]] std::optional<IntegerPolynomial> alike(sym::Term t, Reading& reading) const;
  [[nodiscard]] std::optional<IntegerPolynomial> remainder(sym::Term t, Reading& reading) const;
  // The number of a row and the place in it.
  struct Divided {
    IntegerPolynomial quotient, rest;
  };
  [[nodiscard]] std::optional<Divided> by_row(sym::Term t, Reading& reading) const;
  static Divided in_parts(const IntegerPolynomial& whole, Number by);
  // Of an extract, or of an extended one.
  [[nodiscard]] std::optional<IntegerPolynomial> bits_of(sym::Term t, Reading& reading) const;
  [[nodiscard]] std::optional<DividedByNumber> divided_once(sym::Term t, Reading& reading) const;
  struct Fraction;
  [[nodiscard]] std::optional<Fraction> fraction(sym::Term t, Reading& reading) const;
  [[nodiscard]] std::optional<sym::Term> term_of(const IntegerPolynomial& whole) const;
  struct Multiple;
  [[nodiscard]] std::optional<Divided> next_to(const Multiple& multiple, Reading& reading) const;
  [[nodiscard]] bool is_part_of_thread(const IntegerPolynomial& value) const;
  [[nodiscard]] bool is_no_row(sym::Term condition) const;
  [[nodiscard]] bool is_special(sym::Term t) const;

  const emulator::Kernel& k_;
  sym::Context& c_;
  Meaning meaning_;
  std::optional<IntegerPolynomial> row_;
};

} // namespace ptxasw::passes
