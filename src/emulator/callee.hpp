// Calls that can be seen through: to a small function of the same module that runs straight from
// its first instruction to its only `ret`, and on the way only computes, loads, and passes
// parameters. Such a call changes no memory, orders nothing and keeps the warp together, so what is
// known in front of it holds behind it; and its results are terms over its arguments.
//
// Everything else stays opaque: branches, other stores, barriers, atomics, recursion, functions
// that another file may define in their place (.weak) or does (.extern).
#pragma once

#include "emulator/symbolic_domain.hpp"
#include "ptx/body.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::emulator {

// What .param variables hold, as far as it was stored as whole values: by symbol, offset and width.
class ParameterCells {
public:
  void store(std::uint32_t symbol, std::uint64_t offset, unsigned bytes, sym::Term value);
  // Invalid if these bytes were not stored as one.
  [[nodiscard]] sym::Term load(std::uint32_t symbol, std::uint64_t offset, unsigned bytes) const;
  void forget(std::uint32_t symbol, std::uint64_t offset, unsigned bytes);
  // Those of one symbol become those of another one elsewhere.
  void copy(std::uint32_t from, ParameterCells& other, std::uint32_t to) const;
  void clear() { cells_.clear(); }

private:
  struct Cell {
    std::uint32_t symbol = 0;
    std::uint64_t offset = 0;
    unsigned bytes = 0;
    sym::Term value;
  };
  std::vector<Cell> cells_;
};

// A parameter's place that an ld.param or st.param names: the symbol and the offset into it.
struct ParameterPlace {
  std::uint32_t symbol = 0;
  std::uint64_t offset = 0;
};
std::optional<ParameterPlace> parameter_place(const ptx::Body& body, const ptx::Inst& inst);

// Values of a call's operands, on either side of it.
struct CallValues {
  std::vector<sym::Term> registers; // in order; invalid where the value is in a cell
  ParameterCells cells;             // symbol: the operand's number
};

class Callees {
public:
  // What a special register holds in this thread.
  using Special = std::function<sym::Term(ptx::Special)>;

  Callees(const ptx::Module& module, sym::Context& context, Special special)
      : module_(module), c_(context), domain_(context), special_(std::move(special)) {}

  // Can this call be seen through?
  bool straight(const ptx::Inst& call);
  // The results of such a call.
  CallValues run(const ptx::Inst& call, const CallValues& arguments);

private:
  struct Known {
    bool straight = false;
    unsigned size = 0; // instructions, those of its own calls counted in
    ptx::Body body;
  };
  struct Frame {
    const ptx::Body& body;
    std::vector<sym::Term> registers;
    ParameterCells cells;
  };

  const Known& known(std::uint32_t function, unsigned depth);
  void examine(Known& callee, std::uint32_t function, unsigned depth);
  bool acceptable(Known& callee, const ptx::Inst& inst, bool last, unsigned depth);
  CallValues run(const Known& callee, const CallValues& arguments);
  void step(Frame& frame, const ptx::Inst& inst);
  void call(Frame& frame, const ptx::Inst& inst);
  std::vector<sym::Term> results(Frame& frame, const ptx::Inst& inst);
  sym::Term loaded(Frame& frame, const ptx::Inst& inst, std::size_t element);
  sym::Term value(Frame& frame, const ptx::Arg& arg);
  sym::Term unknown(std::string_view name, unsigned width);

  const ptx::Module& module_;
  sym::Context& c_;
  SymbolicDomain domain_;
  Special special_;
  std::map<std::uint32_t, Known> known_;
};

} // namespace ptxasw::emulator
