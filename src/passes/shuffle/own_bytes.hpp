// Bytes of shared memory that one thread alone writes.
//
// A thread that stores to `tile[ty][tx]` and loads it again behind a barrier gets what it has
// stored, if no other thread of its block ever writes there. Asked here is the whole kernel, not
// what lies between the two: for each store E of it and each other thread u of the block,
//
//     E's bytes in u  and  the load's bytes in t  do not meet,   u != t,
//
// whatever u has loaded, whichever trip of a loop it is in, and under what is known of u at E and
// of t at the load. So it does not matter which barriers stand where, and no race is taken to be
// absent: threads that all store their number to one word, to see whose stays, are refused.
// Conditions, and where each is checked:
//   a kernel (a function does not know who else runs), no call, no generic store, no
//   atomic, asynchronous copy or matrix store that could write shared memory        look
//   each store to shared memory is a plain one, its address known as a term         look
//   it is of another variable of known size, or its bytes lie apart: by a sum of
//   integers within bounds (integer_sum.hpp) or, where that does not tell, by Z3    apart
//   the size of the block, as far as that rests on it: it is known, or a limit that
//   has to be asked at run time                                                     limit
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shuffle/integer_sum.hpp"
#include "ptxasw/reason.hpp"
#include "symbolic/solver.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::passes {

// At most so many threads along each axis of the block.
using BlockLimit = std::array<std::uint32_t, 3>;
// What every launch obeys.
inline constexpr BlockLimit largest_block{1024, 1024, 64};

class OwnBytes {
public:
  // `block`: its known size, zeros where it is not known.
  OwnBytes(emulator::Kernel& kernel, sym::Solver& solver, const std::array<std::uint32_t, 3>& block,
           bool paranoid);

  // The blocks in which no other thread writes what the load reads: of at most so many threads
  // along each axis, which is no limit where it is that of `largest_block`. Nothing where only
  // blocks of less than a warp are left, or nothing can be told; why() says why.
  std::optional<BlockLimit> limit(const emulator::Event& load);
  [[nodiscard]] const Why& why() const { return why_; }
  // The thread's own store does not write what it loads.
  bool own_apart(const emulator::Event& store, const emulator::Event& load);

private:
  // Which thread does the store: the one that loads, or another one of its block.
  enum class Who : std::uint8_t { itself, other };
  struct Pair {
    const emulator::Event& store;
    const emulator::Event& load;
    Who who;
  };
  struct Sides; // of a difference of addresses: what is left of each

  void look();
  [[nodiscard]] sym::Term address(const emulator::Event& e) const;
  [[nodiscard]] std::uint32_t variable(sym::Term address) const;
  bool apart_from_all(const emulator::Event& load, const BlockLimit& limit, bool ask_solver);
  bool apart(const Pair& pair, const BlockLimit& limit, bool ask_solver);
  bool proved_apart(const Pair& pair, const BlockLimit& limit);
  [[nodiscard]] IntegerSum difference(const Pair& pair, const BlockLimit& limit) const;
  [[nodiscard]] bool take_number(Sides& sides, const BlockLimit& limit) const;
  bool take_parts(Sides& sides, unsigned axis, const BlockLimit& limit) const;
  void take_axis(Sides& sides, unsigned axis, const Pair& pair, const BlockLimit& limit,
                 bool numbered) const;
  void take_rest(Sides& sides, Who who) const;
  [[nodiscard]] bool is_common(const sym::Monomial& monomial, Who who) const;
  [[nodiscard]] Interval bounds(unsigned axis, const emulator::Event& e,
                                const BlockLimit& limit) const;
  void narrow(Interval& bounds, sym::Term thread, sym::Term fact, bool holds) const;
  [[nodiscard]] std::vector<sym::Term> facts(const emulator::Event& e) const;
  sym::Context::Substitution renamed(std::span<const sym::Term> terms, Who who,
                                     std::span<const sym::Term, 3> apart);
  [[nodiscard]] std::vector<unsigned> axes_by_step(const emulator::Event& load) const;
  std::optional<BlockLimit> find_limit(const emulator::Event& load);
  std::optional<BlockLimit> search(const emulator::Event& load);

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  std::array<std::uint32_t, 3> block_;
  bool paranoid_;
  BlockLimit most_ = largest_block;     // as far as is known
  std::uint32_t threads_ = 1024;        // of a block, at most
  std::array<sym::Term, 3> tid_, ntid_; // no atoms where nobody reads them, or they are known
  std::vector<std::size_t> stores_;     // to shared memory
  Why refused_, why_;
  // By what it hangs on of a load: address, guard, block of the graph, size.
  std::map<std::tuple<sym::Term, sym::Term, analysis::BlockId, std::int64_t>,
           std::pair<std::optional<BlockLimit>, Why>>
      known_;
};

} // namespace ptxasw::passes
