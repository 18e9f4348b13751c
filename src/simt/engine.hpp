// The machine that runs one launch. Its methods are spread over several files by subject:
// engine.cpp (set-up and the instruction loop), control.cpp, calls.cpp, access.cpp, atomics.cpp,
// warp_sync.cpp, matrix.cpp, barriers.cpp, schedule.cpp.
#pragma once

#include "simt/races.hpp"
#include "simt/random.hpp"
#include "simt/state.hpp"

#include <optional>

namespace ptxasw::simt {

// Operands of the instruction that runs: where each kind of row begins.
struct Operands {
  std::array<const Row*, 3> rows{};
  std::array<const std::uint32_t*, 3> undefined{};
  [[nodiscard]] const std::uint64_t* row(const OperandLocation& p) const {
    return rows[static_cast<std::size_t>(p.base)][p.row].data();
  }
  [[nodiscard]] std::uint32_t undefined_lanes(const OperandLocation& p) const {
    const std::uint32_t* lanes = undefined[static_cast<std::size_t>(p.base)];
    return lanes == nullptr ? 0 : lanes[p.row];
  }
  [[nodiscard]] bool is_undefined(const OperandLocation& p, unsigned lane) const {
    return (undefined_lanes(p) >> lane & 1) != 0;
  }
  [[nodiscard]] std::uint64_t lane(const OperandLocation& p, unsigned lane) const {
    return row(p)[lane] ^ static_cast<std::uint64_t>(p.negated);
  }
  [[nodiscard]] sem::Bits wide_lane(const OperandLocation& p, unsigned at) const {
    const sem::Bits low = lane(p, at);
    return p.width <= 64 ? low : low | sem::Bits{row(p)[warp_size + at]} << 64;
  }
};

// Bytes that an access reaches.
struct Bytes {
  std::uint8_t* data = nullptr;
  std::uint8_t* defined = nullptr;
};

class Engine {
public:
  Engine(const Program& program, const Launch& launch, Memory& memory);
  Result run();

private:
  // engine.cpp
  bool check_launch();
  void prepare_memory();
  void begin_block(Block& block, std::uint64_t linear);
  void fill_specials(Block& block, Warp& warp);
  void refresh_clocks(Warp& warp);
  void advance(Warp& warp, std::uint32_t id, std::uint64_t quantum);
  bool execute(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask);
  static void step(Frame& frame, const Operands& operands, const Ins& ins, std::uint32_t mask);
  static void any_step(Frame& frame, const Operands& operands, const Ins& ins, std::uint32_t mask,
                       std::span<std::uint32_t> bits);
  Operands operands(const Warp& warp, const Frame& frame) const;
  static void write(Frame& frame, const OperandLocation& place, unsigned lane, std::uint64_t value,
                    std::uint64_t high, bool undefined);
  void fail(Result::Status status, const Warp& warp, std::uint32_t mask, const Ins& ins,
            std::string_view what);
  bool reject_undefined(const Warp& warp, const Ins& ins, std::uint32_t lanes,
                        std::string_view what);

  // control.cpp
  void branch(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask);
  void branch_table(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask);
  // Sends the lanes of a fragment to different places; `successors` are (pc, lanes), lanes
  // disjoint.
  struct Successor {
    std::uint32_t pc, lanes;
  };
  void diverge(Warp& warp, std::uint32_t id, std::span<const Successor> successors,
               std::uint32_t reconverge);
  void arrive(Warp& warp, std::uint32_t id);
  void exit_lanes(Warp& warp, std::uint32_t id, std::uint32_t lanes);
  void retire(Warp& warp, std::uint32_t id); // a fragment that has no lanes left
  void join_changed(Warp& warp, std::uint32_t id);
  static std::uint32_t new_fragment(Warp& warp);
  std::uint32_t split(Warp& warp, std::uint32_t id, std::uint32_t lanes);

  // calls.cpp
  struct Callee {
    std::uint32_t code, lanes; // that call it
  };
  class Printer;
  Callee callee_of(const Warp& warp, const Frame& caller, const Ins& ins, const CallSite& site,
                   std::uint32_t mask) const;
  void pass_arguments(Warp& warp, const Frame& caller, const CallSite& site, Frame& callee,
                      std::uint32_t mask) const;
  bool call(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask);
  bool call_external(Warp& warp, Frame& frame, const Ins& ins, const CallSite& site,
                     std::string_view callee, std::uint32_t mask);
  void return_lanes(Warp& warp, std::uint32_t id);
  std::uint32_t make_frame(Warp& warp, const Code& code, std::uint32_t caller, std::uint32_t lanes);
  void print(Warp& warp, unsigned lane, std::uint64_t format, std::uint64_t values, const Ins& ins);

  // access.cpp
  void load(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins, std::uint32_t mask);
  void store(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins,
             std::uint32_t mask);
  void copy(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins, std::uint32_t mask);
  void land(Warp& warp, Frame& frame, const Ins& ins, std::uint32_t mask);
  bool addresses(const Warp& warp, const Operands& operands, const Ins& ins, std::uint32_t mask);
  std::optional<Bytes> reach(Warp& warp, const Frame& frame, const Ins& ins, ptx::Space space,
                             unsigned lane, std::uint64_t address, std::uint64_t bytes,
                             bool writes);
  void observe(Access::Kind kind, const Warp& warp, const Ins& ins, std::uint32_t mask,
               unsigned bytes);
  void find_races(Access::Kind kind, const Warp& warp, const Ins& ins, std::uint32_t mask,
                  unsigned bytes);

  // atomics.cpp
  template <class Visit> void for_lanes_in_any_order(std::uint32_t mask, Visit&& visit);
  void atomic(Warp& warp, Frame& frame, const Operands& operands, const Ins& ins,
              std::uint32_t mask);

  // warp_sync.cpp
  void warp_sync(Warp& warp, std::uint32_t id, const Operands& operands, const Ins& ins,
                 std::uint32_t mask);
  void deliver(Warp& warp);
  void settle(Warp& warp, std::uint32_t id);

  // matrix.cpp
  void matrix(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask);
  void do_matrix(Warp& warp, const Ins& ins, std::uint32_t group);
  void load_matrices(Warp& warp, const Ins& ins);
  // Calls visit(frame, operands, lane) for the lanes of a warp that wait at this instruction.
  template <class Visit> void for_each_lane_at(Warp& warp, const Ins& ins, Visit&& visit) {
    for (const Fragment& f : warp.fragments) {
      if (f.state != Fragment::State::warp_sync) continue;
      Frame& frame = warp.frames[f.frame];
      if (f.pc >= frame.code->insts.size() || &frame.code->insts[f.pc] != &ins) continue;
      const Operands at = operands(warp, frame);
      for_lanes(f.mask, [&](unsigned lane) {
        if (warp.letters[lane].waiting) visit(frame, at, lane);
      });
    }
  }

  // barriers.cpp
  void barrier(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask);
  void assemble(Warp& warp);
  void arrive_at_barrier(Warp& warp, Fragment& f);
  void release_barriers(Block& block);
  bool open_joins();
  void report_deadlock();

  // schedule.cpp
  bool turn_of_lockstep();
  bool turn_of_independent();
  bool turn_of_one_lane();
  bool refill();
  std::optional<std::uint32_t> next_ready(const Warp& warp, std::uint32_t from) const;
  void merge_equals(Warp& warp, std::uint32_t id);
  static void count_iteration(Frame& frame, const Fragment& f, const Ins& header);
  static bool same_iterations(const Frame& frame, const Fragment& a, const Fragment& b);

  const Program& program_;
  const Launch& launch_;
  Memory& memory_;
  Result result_;
  Random random_;
  std::vector<Block> blocks_; // resident
  std::vector<std::uint64_t> order_;
  std::size_t next_block_ = 0;
  std::uint64_t block_threads_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<std::uint8_t> parameters_, parameters_defined_;
  std::vector<std::uint8_t> constants_, constants_defined_;
  Races races_;
  Allocation* last_allocation_ = nullptr;
  std::array<std::uint64_t, warp_size> addresses_{}; // of the access that runs
};

} // namespace ptxasw::simt
