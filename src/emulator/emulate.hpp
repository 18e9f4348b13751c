// What the symbolic emulation of one function found: every memory access with its address as a
// term, the facts that hold where it stands, and what happens in between.
#pragma once

#include "analysis/cfg.hpp"
#include "analysis/liveness.hpp"
#include "analysis/uniformity.hpp"
#include "ptx/body.hpp"
#include "ptxasw/reason.hpp"
#include "symbolic/term.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

namespace ptxasw::emulator {

// What an atom of the terms stands for (sym::Atom::kind).
enum class AtomKind : std::uint32_t {
  special,   // tag: ptx::Special
  parameter, // tag: byte offset in the parameter space
  symbol,    // address of a variable; tag: index into Body::symbols
  loaded,    // value of a load that memory may change under; tag: instruction, tag2: destination
  unknown,   // result of an instruction without semantics; tag, tag2 likewise
  undefined, // register read before any write; tag: register
  carried,   // loop-carried, not an induction variable; tag: block, tag2: register
  merged,    // values of several paths; tag: block, tag2: register
  iteration, // number of completed trips of a loop, 64 bits; tag: loop
};

enum class EventKind : std::uint8_t {
  load,
  store,
  clobber, // barrier, fence, atomic, ordered access, call, asynchronous copy, unknown instruction
};

// A memory access or something that ends what is known about memory, in program order within its
// block.
struct Event {
  EventKind kind = EventKind::clobber;
  ptx::InstId inst = 0;
  analysis::BlockId block = 0;
  ptx::Space space = ptx::Space::generic;
  ptx::Type type = ptx::Type::none;
  unsigned element_bytes = 0; // of one vector element
  unsigned elements = 1;
  bool ordered = false;          // volatile, relaxed, acquire, release, mmio
  bool plain_cache = true;       // no cache operator that asks for another copy (.cv, .lu)
  bool read_only = false;        // .nc or .const: memory cannot change under it
  sym::Term address;             // 64 bits; of the first element
  sym::Term guard;               // width 1; the instruction's own predicate
  std::vector<sym::Term> values; // of a store, by element: what it writes, if that was asked for
};

// The value that a register holds behind an instruction that wrote it or, `at_entry`, in front of
// the first instruction of a block where paths join (only for registers that were followed).
struct Definition {
  ptx::InstId inst = 0;
  ptx::RegId reg = 0;
  sym::Term value;
  bool at_entry = false;
};

// Which budget was spent.
Reason reason_of(const sym::BudgetSpent& spent);

struct Trace {
  // A kernel that cannot be emulated soundly says why here; nothing else is then valid.
  Why refused;

  std::vector<Event> events; // blocks in emulation order (a topological order, loops contiguous)
  std::vector<Definition> definitions;
  // By block: the condition under which it is entered from its only predecessor, if it has one
  // whose branch decides it; otherwise invalid.
  std::vector<sym::Term> entry_fact;
  std::vector<bool> executed;                 // by block: not pruned as unrealizable
  std::vector<sym::Term> iterations;          // by loop: the trip atom
  std::map<ptx::Special, sym::Term> specials; // those that were read
  unsigned pruned_edges = 0;
  unsigned emulated_instructions = 0;

  [[nodiscard]] sym::Term special(ptx::Special id) const {
    const auto found = specials.find(id);
    return found == specials.end() ? sym::Term{} : found->second;
  }
};

struct Budget {
  // Of an ordinary processor; counted in steps of work, of which it does so many in that time.
  // The clock itself stops what takes many times longer.
  std::chrono::milliseconds time{250};
  std::size_t memory = std::size_t{256} << 20;

  static constexpr std::int64_t steps_per_millisecond = 40'000;
  static constexpr int clock_factor = 10;
  [[nodiscard]] sym::Allowance allowance() const {
    const std::int64_t milliseconds = std::max<std::int64_t>(time.count(), 0);
    return {.steps = static_cast<std::uint64_t>(milliseconds * steps_per_millisecond),
            .bytes = memory,
            .clock = std::chrono::milliseconds(milliseconds) * clock_factor};
  }
};

// What is followed: the backward slice of addresses and branch conditions alone, or what stores
// write as well, which takes in most of a kernel's arithmetic.
enum class Follow : std::uint8_t { addresses, stored_values };

// Everything known about one function; the analyses that later passes share.
struct Kernel {
  ptx::Body body;
  analysis::Cfg cfg;
  analysis::LoopForest loops;
  std::unique_ptr<analysis::Liveness> liveness;
  analysis::Uniformity uniformity;
  std::unique_ptr<sym::Context> context;
  Trace trace;

  // Facts that hold whenever `block` is entered: the conditions of the branches that guard it.
  [[nodiscard]] std::vector<sym::Term> facts_at(analysis::BlockId block) const;
  // Every enclosing loop makes the same number of trips in all lanes of a warp.
  [[nodiscard]] bool warp_uniform_loops(analysis::BlockId block) const;
};

// `block_shape`: known block size (from .reqntid or promised by the user), zeros where unknown.
// The module must outlive the kernel.
Kernel emulate(const ptx::Module& module, const ptx::Function& function, const Budget& budget = {},
               std::array<std::uint32_t, 3> block_shape = {}, Follow follow = Follow::addresses);

} // namespace ptxasw::emulator
