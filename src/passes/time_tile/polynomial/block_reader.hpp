// What single threads of a block compute, over whole numbers. Of a thread %tid is a number, so what
// hangs on it alone is one, too: where it stores in shared memory, whether it is at the block's
// rim. What is left are parameters and where the block begins.
//
// Coordinates of what is read here are those of the block's first thread in the grid.
#pragma once

#include "contract/contract.hpp"
#include "passes/time_tile/polynomial/formula.hpp"
#include "passes/time_tile/polynomial/polynomial_reader.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::passes {

using BlockShape = std::array<std::uint32_t, 3>;
using ThreadInBlock = std::array<unsigned, 3>;

class BlockReader {
public:
  // The kernel was emulated for this shape.
  BlockReader(emulator::Kernel& kernel, const BlockShape& shape);

  [[nodiscard]] sym::Term at(sym::Term t, const ThreadInBlock& thread);

  // Of a condition of that thread; none: it is of another form.
  std::optional<Formula> condition(sym::Term t, const ThreadInBlock& thread);

  // A place of shared memory. All dynamic shared memory is that of its first name: variables of
  // no size begin at one address (PTX ISA, "Kernel Function Directives", ".extern .shared").
  struct Shared {
    std::uint32_t symbol = 0; // of the body
    std::int64_t offset = 0;
    friend auto operator<=>(const Shared&, const Shared&) = default;
  };
  [[nodiscard]] std::optional<Shared> shared(sym::Term address, const ThreadInBlock& thread);

  // One of several things that a value may be: an element of an array, a number, or anything else.
  struct Value {
    Formula when;
    std::optional<IntegerPolynomialReader::Place> element;
    std::optional<std::uint64_t> number = std::nullopt; // its bits
  };
  // Of a value that `bytes` bytes are stored of.
  std::vector<Value> values(sym::Term t, unsigned bytes, const ThreadInBlock& thread);

  // What all that was read rests on, of the launch; none: some of it is never known to hold.
  [[nodiscard]] std::optional<std::vector<contract::Condition>> conditions() const;

private:
  std::optional<Formula> read(sym::Term t, Choices& choices);
  std::optional<Formula> joined(sym::Term t, bool is_all, Choices& choices);
  [[nodiscard]] std::optional<IntegerPolynomial> whole(sym::Term t, Reading& reading) const;
  std::optional<Formula> compared(sym::Term t, Choices& choices);
  std::optional<Formula> by_sides(sym::Term t, sym::Term open, Choices& choices);
  void add_elements(sym::Term address, const Formula& when, Choices& choices,
                    std::vector<Value>& all);
  [[nodiscard]] std::optional<Shared> behind_variable(sym::Term t) const;
  [[nodiscard]] std::uint32_t shared_variable(std::uint32_t symbol) const;
  [[nodiscard]] sym::Term loaded_from(sym::Term value, unsigned bytes) const;
  [[nodiscard]] std::optional<IntegerPolynomial> from_begin(const IntegerPolynomial& value) const;
  [[nodiscard]] std::optional<std::pair<IntegerPolynomial, Number>>
  scaled(const IntegerPolynomial& value) const;
  void require(const std::vector<InRange>& ranges);

  emulator::Kernel& k_;
  sym::Context& c_;
  BlockShape shape_;
  std::array<sym::Term, 3> thread_, block_; // what stands for them; invalid or a number: none
  std::array<sym::Term, 3> number_;         // the block's, as a coordinate
  std::optional<IntegerPolynomialReader> reader_;
  std::unordered_map<std::uint32_t, std::optional<Formula>> conditions_; // by term
  ThreadInBlock now_{};
  // Of numbers that differ by a constant: between which constants, and between what they have to
  // be.
  struct Range {
    IntegerPolynomial value;
    Number first = 0, last = 0, least = 0, most = 0;
    std::string otherwise;
  };
  std::map<std::pair<IntegerPolynomial::Terms, std::pair<Number, Number>>, Range> ranges_;
  bool never_holds_ = false;
};

} // namespace ptxasw::passes
